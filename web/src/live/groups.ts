// The fleet rolled up, by site, type or a label: how many devices of each group
// need attention, the worst group first.
import type { Device } from '../api/client';
import { allConditions, conditions, type Condition } from '../words/condition';
import { fleetSentence } from '../words/sentence';
import { natural } from '../words/tr';
import type { Unit } from './unit.svelte';

export interface Group {
  /** The site's id, the type's slug, the label's value. */
  id: string;
  name: string;
  by: Record<Condition, number>;
  total: number;
  /** The worst condition of a device. */
  worst: Condition;
}


/** rollUp groups devices, the group with the most of the worst first. */
export function rollUp(units: Unit[], of: (d: Device) => { id: string; name: string }): Group[] {
  const groups = new Map<string, Group>();
  for (const u of units) {
    const { device, condition } = u.next;
    const { id, name } = of(device);
    let g = groups.get(id);
    if (!g) {
      const by = Object.fromEntries(allConditions.map((c) => [c, 0])) as Record<Condition, number>;
      groups.set(id, (g = { id, name, by, total: 0, worst: 'ok' }));
    }
    g.by[condition]++;
    g.total++;
    if (conditions[condition].rank < conditions[g.worst].rank) g.worst = condition;
  }
  return [...groups.values()].sort((a, b) => {
    for (const c of allConditions) if (c !== 'ok' && a.by[c] !== b.by[c]) return b.by[c] - a.by[c];
    return natural.compare(a.name, b.name);
  });
}

/** siteOf returns the group of a device by its site; 0 is none. */
export function siteOf(noSite: string) {
  return (d: Device) => ({ id: String(d.site?.id ?? 0), name: d.site?.name ?? noSite });
}

/** labelOf returns the group of a device by one of its labels; '' is none. */
export function labelOf(key: string, none: string) {
  return (d: Device) => ({ id: d.labels[key] ?? '', name: d.labels[key] ?? none });
}

/** labelsOf returns the labels that devices have, the most used first, and the values of each in natural order. */
export function labelsOf(units: Unit[]): { key: string; values: string[] }[] {
  const found = new Map<string, { n: number; values: Set<string> }>();
  for (const u of units) {
    for (const key in u.next.device.labels) {
      let f = found.get(key);
      if (!f) found.set(key, (f = { n: 0, values: new Set() }));
      f.n++;
      f.values.add(u.next.device.labels[key]!);
    }
  }
  return [...found]
    .sort(([a, x], [b, y]) => y.n - x.n || natural.compare(a, b))
    .map(([key, f]) => ({ key, values: [...f.values].sort(natural.compare) }));
}

/** sentenceOf says how a group is doing. */
export const sentenceOf = (g: Group) => fleetSentence(g.by);
