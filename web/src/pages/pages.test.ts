import { describe, expect, test } from 'vitest';
import { worstFirst, type Snapshot, type Unit } from '../live/unit.svelte';
import type { Condition } from '../words/condition';
import type { Series } from '../chart/series';
import { labelOf, labelsOf, rollUp } from '../live/groups';
import { address, chosenOf } from './compare/chosen';
import { figuresOf, joined, near } from './compare/lines';
import { countPending, labelFilter, labelIn, matches, tally } from './overview/filters';
import { linesOf } from './overview/lines';
import { ordered, orderOf, turned } from './overview/order';
import { columnsFor, plan, roomFor, screenAfter } from './wall/plan';

const now = Date.parse('2026-11-20T20:00:00Z');
const none = { q: '', site: '', type: '', label: '', state: '' };

// An id of its own for every name.
const siteID = (name: string) => name.length + 100 * Number(/\d+/.exec(name)?.[0] ?? 0);

function unit(id: number, o: { name?: string; site?: string; type?: string; condition?: Condition; temp?: number; alerts?: object[]; past?: object[]; lastSeenAt?: number | null } = {}): Unit {
  const s = {
    device: { id, serial: `S-${id}`, name: o.name ?? `Unit ${id}`, equipment_type: o.type ?? 'walkin_cooler', status: 'online', labels: {}, limits: { temp_min: 0, temp_max: 5 }, site: o.site ? { id: siteID(o.site), name: o.site, timezone: 'UTC' } : null },
    alerts: o.alerts ?? [], past: o.past ?? [], condition: o.condition ?? 'ok', temp: o.temp ?? 3, lastSeenAt: o.lastSeenAt === undefined ? now : o.lastSeenAt,
  } as unknown as Snapshot;
  return { id, now: s, next: s } as Unit;
}
const fit = (u: Unit, f: Partial<typeof none>) => matches(u.next, { ...none, ...f });

describe('filters of the overview', () => {
  const u = unit(7, { name: 'Back walk-in', site: 'Mill', condition: 'warning' });
  test.each<[Partial<typeof none>, boolean]>([
    [{}, true], [{ q: 'WALK' }, true], [{ q: 's-7' }, true], [{ q: 'mill' }, true], [{ q: 'front' }, false],
    [{ site: '4' }, true], [{ site: '9' }, false], [{ site: '0' }, false], [{ type: 'walkin_cooler' }, true], [{ type: 'other' }, false],
    [{ state: 'warning' }, true], [{ state: 'attention' }, true], [{ state: 'ok' }, false], [{ state: 'warning', q: 'front' }, false],
  ])('%o', (f, want) => expect(fit(u, f)).toBe(want));
  test.each<[string, boolean]>([
    ['mill 7', false], ['mill walk', true], ['walk-in cooler', true], ['store 7', true], ['store 1', false], ['STORE 007 meat', true], ['koln', true], ['17', true], ['meat 17', false], [' ', true],
  ])('words: %s', (q, want) => {
    const cooler = unit(1, { name: 'Walk-in', site: 'Mill', type: 'walkin_cooler' });
    const of: Record<string, Unit> = { s: unit(2, { name: 'Meat', site: 'Store 7, Köln' }), S: unit(2, { name: 'Meat', site: 'Store 7' }), k: unit(2, { name: 'A', site: 'Köln' }), '1': unit(2, { name: 'A', site: 'Store 17' }), m: cooler, w: cooler, ' ': cooler };
    expect(fit(q.startsWith('meat') ? of['s']! : of[q[0]!]!, { q })).toBe(want);
  });
  test('out of limits, and nothing is alerted for yet', () => {
    const [well, warm, cold, alerted] = [unit(1), unit(2, { temp: 6 }), unit(3, { temp: -1 }), unit(4, { temp: 9, condition: 'critical' })];
    expect([well, warm, cold, alerted].map((u) => fit(u, { state: 'beyond' }))).toEqual([false, true, true, false]);
    expect(countPending([well, warm, cold, alerted])).toBe(2);
    expect([well, cold, alerted, warm].sort(worstFirst).map((u) => u.id)).toEqual([4, 2, 3, 1]);
  });
  test('devices without a site, and those that are all right', () => {
    expect(fit(unit(1), { site: '0' })).toBe(true);
    expect(fit(unit(1), { state: 'attention' })).toBe(false);
  });
  test('the tally', () => expect(tally([unit(1), unit(2, { condition: 'critical' }), unit(3)])).toEqual({ critical: 1, warning: 0, predicted: 0, offline: 0, unjudged: 0, ok: 2 }));
});

test('the lines of the last day follow the alerts', () => {
  const alert = { type: 'high_temperature', condition_started_at: '2026-11-20T14:00:00Z', triggered_at: '2026-11-20T15:00:00Z', resolved_at: '2026-11-20T17:00:00Z' };
  const off = { type: 'device_offline', condition_started_at: null, triggered_at: '2026-11-20T19:30:00Z', resolved_at: null };
  const l = linesOf([unit(1, { past: [alert] }), unit(2, { alerts: [off] }), unit(3), unit(4)], now);
  const at = (h: number) => Math.floor(((h + 4) / 24) * 96); // h o'clock today
  expect([l.inLimits[at(13)], l.inLimits[at(14.5)], l.inLimits[at(18)]]).toEqual([100, 75, 100]);
  expect([l.alerts[at(14.5)], l.alerts[at(16)], l.alerts[at(18)], l.alerts[95]]).toEqual([0, 1, 0, 1]);
  expect([l.online[at(19)], l.online[95]]).toEqual([100, 75]);
  const never = unit(5, { lastSeenAt: null });
  for (const units of [[], [never]]) expect(linesOf(units, now)).toEqual({ alerts: [], online: [], inLimits: [], untroubled: [] });
  expect(linesOf([unit(1), never], now).untroubled).toHaveLength(96);
});

describe('the wall', () => {
  test('goes round either way, and nowhere before there is a screen', () => {
    expect([screenAfter(2, 1, 3), screenAfter(0, -1, 3), screenAfter(0, -1, 0), screenAfter(5, -1, 3)]).toEqual([0, 2, 0, 1]);
  });

  test('attention first, then the sites, in even parts', () => {
    const units = [...Array.from({ length: 30 }, (_, i) => unit(i, { site: 'Mill', condition: i === 0 ? 'critical' : 'ok' })), unit(99)];
    expect(plan(units, 'Needs attention', 'No site', 'All sites').map((s) => [s.title, s.units.length, s.before, s.total])).toEqual([
      ['Needs attention', 1, 0, 1], ['Mill', 15, 0, 30], ['Mill', 15, 15, 30], ['No site', 1, 0, 1],
    ]);
    expect(plan([], 'a', 'b', 'c')).toEqual([]);
  });
  test('of a chain the sites instead of every device', () => {
    const units = Array.from({ length: 80 }, (_, i) => unit(i, { site: `Shop ${Math.floor(i / 2)}`, condition: i === 6 ? 'critical' : 'ok' }));
    const screens = plan(units, 'Needs attention', 'No site', 'All sites');
    expect(screens.map((s) => [s.title, s.units.length, s.sites?.length])).toEqual([['Needs attention', 1, undefined], ['All sites', 0, 40]]);
    expect(screens[1]!.sites!.slice(0, 4).map((s) => [s.name, s.worst, s.total])).toEqual([['Shop 3', 'critical', 2], ['Shop 0', 'ok', 2], ['Shop 1', 'ok', 2], ['Shop 2', 'ok', 2]]);
    expect(screens[1]!.sites!.at(-1)!.name).toBe('Shop 39');
  });
  test('has as many tiles on a screen as can be read there', () => {
    expect(roomFor(1920, 900, 40)).toBe(40);
    expect(roomFor(344, 560, 20)).toBe(14); // a phone
    expect(roomFor(100, 50, 20)).toBe(1);
    const sites = Array.from({ length: 40 }, (_, i) => unit(i, { site: `Shop ${i}` }));
    expect(plan(sites, 'a', 'b', 'All sites', { units: 14, sites: 14 }).filter((s) => s.title === 'All sites').map((s) => [s.sites?.length, s.before])).toEqual([[14, 0], [14, 14], [12, 28]]);
  });

  test('tiles keep their shape', () => {
    expect(columnsFor(1, 1920, 900)).toBe(1);
    expect(columnsFor(12, 1920, 900)).toBe(4);
    expect(columnsFor(3, 1920, 900)).toBe(3);
    expect(columnsFor(12, 390, 700)).toBe(2);
    expect(columnsFor(18, 373, 640)).toBe(2); // three would cut “Demasiado caliente” off
  });
});

describe('groups of the fleet', () => {
  const labelled = (id: number, labels: Record<string, string>, condition: Condition = 'ok') => {
    const u = unit(id, { condition });
    Object.assign(u.next.device, { labels });
    return u;
  };
  const units = [labelled(1, { aisle: '10', owner: 'Ben' }), labelled(2, { aisle: '2' }), labelled(3, { aisle: '2' }, 'critical'), labelled(4, {})];
  test('by a label, the worst first, then in natural order', () => {
    expect(rollUp(units, labelOf('aisle', 'without aisle')).map((g) => [g.id, g.name, g.total, g.worst])).toEqual([['2', '2', 2, 'critical'], ['10', '10', 1, 'ok'], ['', 'without aisle', 1, 'ok']]);
  });
  test('the labels that there are, the most used first', () => {
    expect(labelsOf(units)).toEqual([{ key: 'aisle', values: ['2', '10'] }, { key: 'owner', values: ['Ben'] }]);
  });
  test.each([['aisle', '2', [2, 3]], ['aisle', '', [4]], ['owner', 'Ben', [1]], ['other', 'x', []]] as [string, string, number[]][])('the filter %s:%s', (key, value, want) => {
    expect(units.filter((u) => fit(u, { label: labelFilter(key, value) })).map((u) => u.id)).toEqual(want);
  });
  test('a key may have a colon, and an address anything', () => {
    expect(labelIn(labelFilter('a:b', 'c:d'))).toEqual(['a:b', 'c:d']);
    expect(labelIn('%zz')).toEqual(['%zz', '']);
  });
});

describe('the table', () => {
  const at = (id: number, name: string, temp: number | null, seen: number | null, site?: string) => {
    const u = unit(id, { name, site });
    Object.assign(u.next, { temp, lastSeenAt: seen });
    return u;
  };
  const units = [at(1, 'Freezer 10', -20, 5, 'B'), at(2, 'Freezer 2', null, null), at(3, 'Cooler', 4, 9, 'A')];
  const ids = (sort: string) => ordered(units, orderOf(sort)).map((u) => u.id);
  test('is sorted by any column, what is not known last', () => {
    expect([ids(''), ids('-state'), ids('name'), ids('-name'), ids('temp'), ids('-temp'), ids('seen'), ids('site'), ids('nonsense')]).toEqual([
      [1, 2, 3], [3, 2, 1], [3, 2, 1], [1, 2, 3], [1, 3, 2], [3, 1, 2], [1, 3, 2], [2, 3, 1], [1, 2, 3],
    ]);
  });
  test('a click on a head sorts up, then down', () => {
    expect([turned(orderOf(''), 'name'), turned(orderOf('name'), 'name'), turned(orderOf('-name'), 'name'), turned(orderOf('name'), 'state'), turned(orderOf(''), 'state')]).toEqual(['name', '-name', 'name', '', '-state']);
  });
});

describe('units side by side', () => {
  const series = (t: number[], avg: (number | null)[]) => ({ step: 'raw', t, defrosts: [], traces: { product_zone_temp: { avg, min: null, max: null } } }) as unknown as Series;
  const a = series([0, 60, 120], [1, null, 3]);
  const b = series([30, 120], [5, 7]);
  test('share one axis of time; a gap is not passed over', () => {
    const { t, values } = joined([a, null, b], 'product_zone_temp');
    expect(t).toEqual([0, 30, 60, 120]);
    expect(values).toEqual([[1, undefined, null, 3], [undefined, undefined, undefined, undefined], [undefined, 5, undefined, 7]]);
    expect([near(t, values[0]!, 1), near(t, values[0]!, 2), near(t, values[2]!, 2), near(t, values[2]!, 0), near(t, values[2]!, 2, 20)]).toEqual([1, null, 5, null, null]);
  });
  test('have their figures', () => {
    expect([figuresOf(a, 'product_zone_temp'), figuresOf(series([0], [null]), 'product_zone_temp')]).toEqual([{ last: 3, lowest: 1, mean: 2, highest: 3 }, null]);
  });
  test('are named in the address, each once and six at most', () => {
    expect(chosenOf('a,B,,b,c,d,e,f,g')).toEqual(['a', 'B', 'c', 'd', 'e', 'f']);
    expect(address(['A:1', 'B'])).toBe('/compare?devices=A%3A1,B');
  });
});
