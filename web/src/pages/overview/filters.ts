// What part of the fleet is looked at. The filters live in the address bar.
import { pending, type Snapshot, type Unit } from '../../live/unit.svelte';
import { allConditions, type Condition } from '../../words/condition';
import { equipmentName } from '../../words/equipment';
import { finder } from '../../words/find';

export interface Filters {
  q: string;
  site: string;
  type: string;
  /** A label and its value, "aisle:3"; "aisle:" is whatever does not have it. */
  label: string;
  /** A condition, `attention` for everything but ok, `beyond` for what is out of its limits without an alert yet, or empty. */
  state: string;
}

export function matches(s: Snapshot, f: Filters): boolean {
  if (f.state === 'beyond' ? !pending(s) : f.state === 'attention' ? s.condition === 'ok' : f.state && s.condition !== f.state) return false;
  return inPlace(f)(s);
}

/** inPlace returns a test for devices that match all filters but the state. */
export function inPlace(f: Filters): (s: Snapshot) => boolean {
  const found = finder(f.q);
  const label = f.label ? labelIn(f.label) : null;
  return ({ device: d }) =>
    (!f.site || String(d.site?.id ?? 0) === f.site) &&
    (!f.type || d.equipment_type === f.type) &&
    (!label || (d.labels[label[0]] ?? '') === label[1]) &&
    (!f.q || found(d.name, d.serial, d.site?.name, equipmentName(d.equipment_type)));
}

/** labelIn reads the filter of a label. */
export function labelIn(label: string): [key: string, value: string] {
  const at = label.indexOf(':');
  return at < 0 ? [decoded(label), ''] : [decoded(label.slice(0, at)), label.slice(at + 1)];
}

/** labelFilter is the other way round; a key may have a colon, too. */
export function labelFilter(key: string, value: string): string {
  return `${encodeURIComponent(key)}:${value}`;
}

function decoded(s: string): string {
  try {
    return decodeURIComponent(s);
  } catch {
    return s; // somebody changed the address
  }
}

/** tally counts devices by condition. */
export function tally(units: Unit[]): Record<Condition, number> {
  const by = Object.fromEntries(allConditions.map((c) => [c, 0])) as Record<Condition, number>;
  for (const u of units) by[u.next.condition]++;
  return by;
}

/** countPending counts the devices that are out of their limits, and not for long enough to be alerted for. */
export const countPending = (units: Unit[]): number => units.reduce((n, u) => n + Number(pending(u.next)), 0);
