// What the wall shows, screen after screen: first whatever needs attention, then
// every site, each in as many screens as it takes to keep the type large.
import type { Unit } from '../../live/fleet.svelte';
import { rollUp, siteOf, type Group } from '../../live/groups';
import { natural } from '../../words/tr';

export interface Screen {
  title: string;
  units: Unit[];
  /** Whether they are of several sites. */
  mixed?: boolean;
  /** Instead of devices, where there are too many to show every one. */
  sites?: Group[];
  /** 1-based, of how many with this title. */
  part: number;
  parts: number;
}

const most = 20; // tiles on a screen
const manySites = 8; // of more sites a chain's wall shows the sites, not every device

export function plan(units: Unit[], attention: string, noSite: string, allSites: string): Screen[] {
  const out: Screen[] = [];
  const add = (title: string, list: Unit[], mixed = false) => {
    const parts = Math.ceil(list.length / most);
    // Screens of the same size are calmer than a full one and a rest.
    const size = Math.ceil(list.length / Math.max(1, parts));
    for (let i = 0; i < parts; i++) out.push({ title, units: list.slice(i * size, (i + 1) * size), part: i + 1, parts, mixed });
  };
  const troubled = units.filter((u) => u.now.condition !== 'ok');
  const sites = new Map<string, Unit[]>();
  for (const u of units) {
    const name = u.now.device.site?.name ?? noSite;
    const list = sites.get(name);
    if (list) list.push(u);
    else sites.set(name, [u]);
  }
  if (troubled.length && sites.size > 1) add(attention, troubled.slice(0, most * 3), true);
  if (sites.size > manySites) {
    const rolled = rollUp(units, siteOf(noSite));
    const onOne = most * 2;
    const parts = Math.ceil(rolled.length / onOne);
    const size = Math.ceil(rolled.length / parts);
    for (let i = 0; i < parts; i++) out.push({ title: allSites, units: [], sites: rolled.slice(i * size, (i + 1) * size), part: i + 1, parts });
    return out;
  }
  for (const [name, list] of [...sites].sort(([a], [b]) => natural.compare(a, b))) add(name, list);
  return out;
}

/** columnsFor makes tiles of a shape close to 8:5, and few empty places. */
export function columnsFor(n: number, width: number, height: number): number {
  let best = 1;
  let off = Infinity;
  for (let c = 1; c <= n; c++) {
    const shape = width / c / (height / Math.ceil(n / c));
    const empty = c * Math.ceil(n / c) - n;
    const d = Math.abs(Math.log(shape / 1.6)) + (2 * empty) / n;
    if (d < off) {
      off = d;
      best = c;
    }
  }
  return best;
}

/** screenAfter is the screen that comes by so many after another, of so many; the first one while there is none. */
export function screenAfter(turn: number, by: number, screens: number): number {
  return screens ? (((turn + by) % screens) + screens) % screens : 0;
}
