// What the wall shows, screen after screen: first whatever needs attention, then
// every site, each in as many screens as it takes to keep the type large.
import type { Unit } from '../../live/unit.svelte';
import { rollUp, siteOf, type Group } from '../../live/groups';
import { natural } from '../../words/tr';

export interface Screen {
  title: string;
  units: Unit[];
  /** Whether they are of several sites. */
  mixed?: boolean;
  /** Instead of devices, where there are too many to show every one. */
  sites?: Group[];
  /** Of how many devices or sites with this title it is one part, and how many stand on the screens before it. */
  total: number;
  before: number;
}

const most = 20; // tiles on a screen
const large = { width: 160, height: 76 }; // px that a tile's name and number need
const manySites = 8; // of more sites a chain's wall shows the sites, not every device

/** roomFor is how many tiles of a readable size a screen has room for, at most so many. */
export function roomFor(width: number, height: number, most: number): number {
  return Math.max(1, Math.min(most, Math.max(1, Math.floor(width / large.width)) * Math.floor(height / large.height)));
}

/** plan: room is how many tiles fit on a screen, of devices and of sites. */
export function plan(units: Unit[], attention: string, noSite: string, allSites: string, room = { units: most, sites: most * 2 }): Screen[] {
  const out: Screen[] = [];
  const add = (title: string, list: Unit[], total = list.length, mixed = false) => {
    for (const { before, part } of parted(list, room.units)) out.push({ title, units: part, before, total, mixed });
  };
  const troubled = units.filter((u) => u.next.condition !== 'ok');
  const sites = new Map<string, Unit[]>();
  for (const u of units) {
    const name = u.next.device.site?.name ?? noSite;
    const list = sites.get(name);
    if (list) list.push(u);
    else sites.set(name, [u]);
  }
  if (troubled.length && sites.size > 1) add(attention, troubled.slice(0, room.units * 3), troubled.length, true);
  if (sites.size > manySites) {
    const rolled = rollUp(units, siteOf(noSite));
    for (const { before, part } of parted(rolled, room.sites)) out.push({ title: allSites, units: [], sites: part, before, total: rolled.length });
    return out;
  }
  for (const [name, list] of [...sites].sort(([a], [b]) => natural.compare(a, b))) add(name, list);
  return out;
}

/** parted cuts a list into parts of the same size: screens are calmer so than full ones and a rest. */
function parted<T>(list: T[], most: number): { before: number; part: T[] }[] {
  const parts = Math.ceil(list.length / most);
  const size = Math.ceil(list.length / Math.max(1, parts));
  return Array.from({ length: parts }, (_, i) => ({ before: i * size, part: list.slice(i * size, (i + 1) * size) }));
}

/** columnsFor makes tiles of a shape close to 8:5, wide enough for their words, and few empty places. */
export function columnsFor(n: number, width: number, height: number): number {
  let best = 1;
  let off = Infinity;
  for (let c = 1; c <= Math.min(n, Math.max(1, Math.floor(width / large.width))); c++) {
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
