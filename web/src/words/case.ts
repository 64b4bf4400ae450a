// What is said of a case.
import type { Schemas } from '../api/client';
import { typeName } from './alert';
import { causeName } from './excursion';
import { duration, humanised, limit, temperature, type Units } from './format';
import { tr } from './tr';

type Case = Schemas['Case'];

const statuses: Record<string, string> = { open: tr('Not documented'), documented: tr('Documented, not signed'), signed: tr('Signed') };

/** statusName is how far the paperwork of a case is. */
export function statusName(c: Pick<Case, 'status' | 'withdrawn'>): string {
  return c.withdrawn ? tr('Withdrawn') : (statuses[c.status] ?? humanised(c.status));
}

/** statusTone is the colour that goes with it. */
export function statusTone(c: Pick<Case, 'status' | 'withdrawn'>): string {
  if (c.withdrawn) return 'bg-line text-ink-2';
  if (c.status === 'signed') return 'bg-ok-soft text-ok';
  return c.status === 'open' ? 'bg-critical-soft text-critical' : 'bg-paper text-ink-2';
}

/** wrong is what was wrong, by its worst: "2 h above 8 °C, up to 13.4 °C". */
export function wrong(c: Case, units: Units): string {
  const excursions = c.lines.filter((l) => l.kind === 'excursion' && !l.withdrawn && l.peak != null && l.limit != null);
  const beyond = (l: Schemas['CaseLine']) => Math.abs(l.peak! - l.limit!);
  const worst = excursions.toSorted((a, b) => beyond(b) - beyond(a))[0];
  if (worst?.to) {
    const v = { span: duration(Date.parse(worst.to) - Date.parse(worst.from)), limit: limit(worst.limit!, units), peak: temperature(worst.peak!, units) };
    return worst.low ? tr('{span} below {limit}, down to {peak}', v) : tr('{span} above {limit}, up to {peak}', v);
  }
  const types = [...new Set(c.lines.filter((l) => l.type).map((l) => typeName(l.type!)))];
  return types.slice(0, 3).join(', ') || tr('Documented by a person');
}

/** causeOf is the probable cause of its worst excursion, empty when none is known. */
export function causeOf(c: Case): string {
  const cause = c.lines.find((l) => l.cause && l.cause !== 'unknown')?.cause;
  return cause ? causeName(cause) : '';
}

const kinds: Record<string, string> = {
  opened: tr('Alert opened'), escalated: tr('Alert became critical'), deescalated: tr('Alert became a warning'), acknowledged: tr('Acknowledged'),
  acknowledgement_expired: tr('Acknowledgement expired'), noted: tr('Note'), resolved: tr('Alert ended'), suppressed: tr('Explained by another alert'),
  released: tr('No longer explained by another alert'), moved: tr('Unit moved'), feedback: tr('Judged'),
};

/** toldName is what a line of its timeline says. */
export function toldName(t: Schemas['CaseTold']): string {
  if (t.kind !== 'told') return kinds[t.kind] ?? humanised(t.kind);
  if (t.status === 'sent') return tr('Told');
  return t.status === 'failed' ? tr('Message failed') : tr('Message not sent');
}

export const meanings = [
  { value: 'performed', label: tr('I did this') },
  { value: 'reviewed', label: tr('I have reviewed it') },
  { value: 'approved', label: tr('I approve it') },
] as const;

const signed: Record<string, string> = { performed: tr('Performed'), reviewed: tr('Reviewed'), approved: tr('Approved') };

/** meaningName is what somebody signed for. */
export function meaningName(meaning: string): string {
  return signed[meaning] ?? humanised(meaning);
}
