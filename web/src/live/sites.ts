// The fleet by site: how many devices of each need attention, the worst first.
import { allConditions, conditions, type Condition } from '../words/condition';
import { fleetSentence } from '../words/sentence';
import type { Unit } from './fleet.svelte';

export interface SiteState {
  /** 0: devices without a site. */
  id: number;
  name: string;
  by: Record<Condition, number>;
  total: number;
  /** The worst condition of a device. */
  worst: Condition;
}

const natural = new Intl.Collator(undefined, { numeric: true });

/** bySite rolls devices up, the site with the most of the worst first. */
export function bySite(units: Unit[], noSite: string): SiteState[] {
  const sites = new Map<number, SiteState>();
  for (const u of units) {
    const { device, condition } = u.next;
    const id = device.site?.id ?? 0;
    let s = sites.get(id);
    if (!s) {
      const by = Object.fromEntries(allConditions.map((c) => [c, 0])) as Record<Condition, number>;
      sites.set(id, (s = { id, name: device.site?.name ?? noSite, by, total: 0, worst: 'ok' }));
    }
    s.by[condition]++;
    s.total++;
    if (conditions[condition].rank < conditions[s.worst].rank) s.worst = condition;
  }
  return [...sites.values()].sort((a, b) => {
    for (const c of allConditions) if (c !== 'ok' && a.by[c] !== b.by[c]) return b.by[c] - a.by[c];
    return natural.compare(a.name, b.name);
  });
}

/** sentenceOf says how a site is doing. */
export const sentenceOf = (s: SiteState) => fleetSentence(s.by);
