import { describe, expect, test } from 'vitest';
import type { Snapshot, Unit } from '../live/fleet.svelte';
import type { Condition } from '../words/condition';
import { matches, tally } from './overview/filters';
import { linesOf } from './overview/lines';
import { columnsFor, plan } from './wall/plan';

const now = Date.parse('2026-11-20T20:00:00Z');
const none = { q: '', site: '', type: '', state: '' };

// An id of its own for every name.
const siteID = (name: string) => name.length + 100 * Number(/\d+/.exec(name)?.[0] ?? 0);

function unit(id: number, o: { name?: string; site?: string; type?: string; condition?: Condition; alerts?: object[]; past?: object[] } = {}): Unit {
  const s = {
    device: { id, serial: `S-${id}`, name: o.name ?? `Unit ${id}`, equipment_type: o.type ?? 'walkin_cooler', status: 'online', site: o.site ? { id: siteID(o.site), name: o.site, timezone: 'UTC' } : null },
    alerts: o.alerts ?? [], past: o.past ?? [], condition: o.condition ?? 'ok',
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
  expect(linesOf([], now).untroubled.every((v) => v === 100)).toBe(true);
});

describe('the wall', () => {
  test('attention first, then the sites, in even parts', () => {
    const units = [...Array.from({ length: 30 }, (_, i) => unit(i, { site: 'Mill', condition: i === 0 ? 'critical' : 'ok' })), unit(99)];
    expect(plan(units, 'Needs attention', 'No site', 'All sites').map((s) => [s.title, s.units.length, s.part, s.parts])).toEqual([
      ['Needs attention', 1, 1, 1], ['Mill', 15, 1, 2], ['Mill', 15, 2, 2], ['No site', 1, 1, 1],
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
  test('tiles keep their shape', () => {
    expect(columnsFor(1, 1920, 900)).toBe(1);
    expect(columnsFor(12, 1920, 900)).toBe(4);
    expect(columnsFor(3, 1920, 900)).toBe(3);
    expect(columnsFor(12, 390, 700)).toBe(2);
  });
});
