// Maintenance that comes back every week, in words.
import type { Schemas } from '../../api/client';
import { fleet } from '../../live/fleet.svelte';
import { daysWords, type Weekday } from '../../words/duty';
import { tr } from '../../words/tr';

/** clockOf says whose clock a plan about sites and devices goes by. */
export function clockOf(sites: number[], serials: string[]): string {
  const at = new Set([...sites, ...serials.map((s) => fleet.bySerial(s)?.now.device.site?.id ?? 0)]);
  const [only] = at;
  if (at.size > 1) return tr('by the clock of each site');
  const site = fleet.sites.find((s) => s.id === only);
  return site ? tr('by the clock of {site}', { site: site.name }) : tr('by the clock of the workspace');
}

/** planWords: "Mon–Fri 05:30–07:00, by the clock of Harbour Street". */
export function planWords(p: Schemas['MaintenancePlan']): string {
  return `${daysWords(p.days as Weekday[])} ${p.from}–${p.to}, ${clockOf(p.site_ids, p.device_serials)}`;
}
