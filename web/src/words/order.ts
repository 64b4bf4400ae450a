// What is said of a work order.
import type { Schemas } from '../api/client';
import { humanised } from './format';
import { tr } from './tr';

type Order = Schemas['WorkOrder'];

const statuses: Record<string, string> = {
  open: tr('Given to nobody'), assigned: tr('Assigned'), on_site: tr('On site'), done: tr('Done, not verified'), verified: tr('Verified'), cancelled: tr('Cancelled'),
};

/** orderStatus is how far an order is. */
export const orderStatus = (status: string): string => statuses[status] ?? humanised(status);

/** orderTone is the colour that goes with it. */
export function orderTone(status: string): string {
  if (status === 'verified') return 'bg-ok-soft text-ok';
  if (status === 'open') return 'bg-critical-soft text-critical';
  return status === 'cancelled' ? 'bg-line text-ink-2' : 'bg-paper text-ink-2';
}

export const urgencies = [
  { value: 'emergency', label: tr('Emergency: at once, at any hour') },
  { value: 'soon', label: tr('Soon: on this working day or the next') },
  { value: 'routine', label: tr('With the next visit') },
] as const;

/** urgent is a word where an order cannot wait. */
export const urgent = (o: Pick<Order, 'urgency'>): string => (o.urgency === 'emergency' ? tr('Emergency') : o.urgency === 'soon' ? tr('Soon') : '');

export const outcomes = [
  { value: 'repaired', label: tr('Repaired') },
  { value: 'not_repaired', label: tr('Not repaired yet') },
  { value: 'nothing_wrong', label: tr('Nothing was wrong') },
] as const;

/** outcomeName is what was found. */
export const outcomeName = (outcome: string): string => outcomes.find((o) => o.value === outcome)?.label ?? humanised(outcome);

/** whoHas names who has an order, with the firm. */
export function whoHas(d: Schemas['Doer'] | null): string {
  if (!d) return '';
  return d.firm && d.firm !== d.name ? `${d.name}, ${d.firm}` : d.name;
}
