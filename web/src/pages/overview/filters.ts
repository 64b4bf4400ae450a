// What part of the fleet is looked at. The filters live in the address bar.
import type { Snapshot, Unit } from '../../live/unit.svelte';
import { allConditions, type Condition } from '../../words/condition';

export interface Filters {
  q: string;
  site: string;
  type: string;
  /** A label and its value, "aisle:3"; "aisle:" is whatever does not have it. */
  label: string;
  /** A condition, `attention` for everything but ok, or empty. */
  state: string;
}

export function matches(s: Snapshot, f: Filters): boolean {
  if (f.state === 'attention' ? s.condition === 'ok' : f.state && s.condition !== f.state) return false;
  return inPlace(s, f);
}

/** inPlace reports whether a device matches all filters but the state. */
export function inPlace(s: Snapshot, f: Filters): boolean {
  const d = s.device;
  if (f.site && String(d.site?.id ?? 0) !== f.site) return false;
  if (f.type && d.equipment_type !== f.type) return false;
  if (f.label) {
    const [key, value] = labelIn(f.label);
    if ((d.labels[key] ?? '') !== value) return false;
  }
  if (!f.q) return true;
  const q = f.q.toLowerCase();
  return d.name.toLowerCase().includes(q) || d.serial.toLowerCase().includes(q) || (d.site?.name.toLowerCase().includes(q) ?? false);
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
