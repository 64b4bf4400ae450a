import { describe, expect, test } from 'vitest';
import { apart } from './axes';
import { reach, slotted, strip } from './history';
import { marksOf, placed } from './marks';
import { bandScale } from './scale';
import { appended, risesOf, seriesOf, type Series } from './series';
import { measureOf, measures, value } from '../words/measure';

describe('the scale of the band gauge', () => {
  test('the allowed range stands in the middle, whatever the value', () => {
    const s = bandScale({ min: -30, max: -15 });
    expect(s.at(-22.5)).toBeCloseTo(0.5);
    expect(s.at(-30)).toBeCloseTo(1 - s.at(-15));
    expect(s.at(100)).toBe(1);
    expect(s.beyond(100)).toBe('above');
    expect(s.beyond(-20)).toBeNull();
  });
  test('one limit, none, and a range of nothing', () => {
    expect(bandScale({ min: null, max: 5 }).at(5)).toBeCloseTo(2 / 3);
    const none = bandScale({ min: null, max: null }, [20]);
    expect(none.at(20)).toBeCloseTo(0.5);
    expect(Number.isFinite(bandScale({ min: 4, max: 4 }).at(4))).toBe(true);
  });
});

describe('a day in slots', () => {
  const to = Date.parse('2026-11-20T20:07:00Z');
  const bucket = (at: string, v: number) => ({ at, product_zone_temp: { min: v - 1, avg: v, max: v + 1 } });
  const day = slotted([bucket('2026-11-20T20:00:00Z', -20), bucket('2026-11-20T19:00:00Z', -18), { at: '2026-11-20T18:00:00Z', product_zone_temp: null }, bucket('2026-11-19T10:00:00Z', 5)], to);
  test('the slot of now is the last, what is older than a day is left out', () => {
    expect(day.slots).toHaveLength(96);
    expect(day.slots[95]?.avg).toBe(-20);
    expect(day.slots[91]?.avg).toBe(-18);
    expect(day.slots[87]).toBeNull();
    expect(reach(day)).toEqual({ min: -21, max: -17 });
    expect(reach(slotted([], to))).toBeNull();
  });
  test('a cell has the worst of its time; what is not known is a gap', () => {
    const a = { type: 'high_temperature', severity: 'critical' as const, prediction: null, condition_started_at: '2026-11-20T18:50:00Z', triggered_at: '2026-11-20T18:55:00Z', resolved_at: '2026-11-20T19:10:00Z' };
    const cells = strip(day, [a, { ...a, severity: 'warning' as const, resolved_at: null }]);
    expect(cells).toHaveLength(48);
    expect(cells[47]).toBe('warning');
    expect(cells[45]).toBe('critical');
    expect(cells[46]).toBe('warning');
    expect(cells[44]).toBeNull();
    // That late readings showed it is all that tells of this one.
    const late = { from: a.condition_started_at, to: a.resolved_at, found_late_at: '2026-11-20T20:00:00Z' };
    expect(strip(day, [], 'ok', [late])[45]).toBe('warning');
    expect(strip(day, [], 'ok', [{ ...late, found_late_at: null }])[45]).not.toBe('warning');
  });
});

describe('what charts draw', () => {
  const at = (minute: number) => new Date(Date.parse('2026-11-20T20:00:00Z') + minute * 60_000).toISOString();
  const head = { device_id: 1, device_serial: 'A', from: at(0), to: at(60) };
  const reading = (minute: number, energy: number | null) => ({ recorded_at: at(minute), received_at: at(minute), sensor_faults: [], power: 1000 + minute, ...(energy == null ? {} : { energy }) });

  test('of a counter, what it counted since the reading before, live readings too', () => {
    const s = seriesOf({ ...head, step: 'raw', readings: [reading(0, 10), reading(1, 10.5), reading(2, null), reading(3, 12), reading(4, 0.25)] });
    expect(s.traces.energy.avg).toEqual([null, 0.5, null, 1.5, 0.25]);
    expect(s.traces.power.avg).toEqual([1000, 1001, 1002, 1003, 1004]);
    const more = appended(appended(s, reading(5, 1)), reading(6, 1.5));
    expect(more.traces.energy.avg.slice(-2)).toEqual([0.75, 0.5]);
    expect(s.traces.energy.avg).toHaveLength(5);
  });
  test('of a counter in steps, what it counted in each', () => {
    const bucket = (minute: number, increase: number) => ({ at: at(minute), count: 15, energy: { min: 1, max: 2, increase }, power: { min: 1, avg: 2, max: 3 } });
    const s = seriesOf({ ...head, step: '15m', buckets: [bucket(0, 0.5), { at: at(15), count: 0 }, bucket(30, 0)] });
    expect(s.traces.energy).toEqual({ avg: [0.5, null, 0], min: null, max: null });
    expect(s.traces.power).toEqual({ avg: [2, null, 2], min: [1, null, 1], max: [3, null, 3] });
    // One live reading is not a step of 15 minutes.
    expect(appended(s, reading(45, 3)).traces.energy.avg.at(-1)).toBeNull();
  });
  test('the core measurements come first, in the order of a technician', () => {
    expect(measures.slice(0, 8).map((m) => m.field)).toEqual(['product_zone_temp', 'compressor_discharge_temp', 'compressor_suction_temp', 'ambient_temp', 'amp_draw', 'voltage', 'vibration_level', 'humidity']);
    expect(measures.slice(8).every((m) => !m.core)).toBe(true);
  });
  test('units are those that people read', () => {
    expect(value(18240.5, measureOf('energy')!, 'c')).toBe('18240.50\u202fkWh');
    expect(value(5400, measureOf('run_seconds')!, 'c')).toBe('1.5\u202fh');
    expect(value(45, measureOf('humidity')!, 'c')).toBe('45\u202f%');
    expect(value(7, measureOf('start_count')!, 'c')).toBe('7');
    expect(value(-20, measureOf('setpoint_temp')!, 'f')).toBe('\u22124.0\u202f°F');
  });
});

describe('marks of what was done', () => {
  const at = (h: number) => new Date(h * 3_600_000).toISOString();
  const ms = (h: number) => h * 3_600_000;
  const device = { serial: 'WIF-1', site: { id: 3, name: 'Mill', timezone: 'UTC' } };
  const action = (id: number, h: number, alert: number | null = null) => ({ id, alert_id: alert, performed_at: at(h), action: `did ${id}`, performed_by: 'Ada' }) as never;
  const window = (id: number, from: number, to: number, places: { site_ids?: number[]; device_serials?: string[] } = {}) =>
    ({ id, starts_at: at(from), ends_at: at(to), reason: `window ${id}`, created_by: 'Ben', site_ids: [], device_serials: [], ...places }) as never;
  const ids = (actions: never[], windows: never[], now = 24) => marksOf(device, actions, windows, ms(0), ms(24), ms(now)).map((m) => m.id);

  test('are those of the span, the oldest first', () => {
    expect(ids([action(2, 9), action(1, 3, 7), action(3, 25)], [])).toEqual(['a1', 'a2']);
    expect(marksOf(device, [action(1, 3, 7)], [], ms(0), ms(24), ms(24))[0]).toEqual({ id: 'a1', at: ms(3), text: 'did 1', by: 'Ada', alert: 7 });
  });
  test('maintenance is of the devices that it names, of all where it names none', () => {
    expect(ids([], [window(1, 1, 2), window(2, 3, 4, { site_ids: [3] }), window(3, 5, 6, { site_ids: [4] }), window(4, 7, 8, { device_serials: ['wif-1'] }), window(5, 9, 10, { device_serials: ['X'] })])).toEqual(['w1', 'w2', 'w4']);
  });
  test('what began before counts while it lasts, what is only planned does not', () => {
    expect(ids([], [window(1, -5, 1), window(2, -5, -1), window(3, 20, 22)], 12)).toEqual(['w1']);
  });
  test('flags have room up to the next one, and close ones are one', () => {
    const marks = marksOf(device, [action(1, 0), action(2, 12), action(3, 12.1)], [], ms(0), ms(24), ms(24));
    expect(placed(marks, (t) => (t / ms(24)) * 100).map((f) => [f.marks.length, f.left, f.room])).toEqual([[1, 0, 50], [2, 50, 50]]);
  });
});

test('short rises are counted, with those in defrosts', () => {
  const t = Array.from({ length: 25 }, (_, i) => i * 3600);
  const avg: (number | null)[] = t.map(() => -20);
  avg[3] = avg[4] = -10; // a defrost
  avg[10] = -12; // nobody knows why
  avg[11] = null;
  avg[12] = -12; // a gap is no end
  const series = { step: 'raw', t, defrosts: [{ from: 2.8 * 3_600_000, to: 3 * 3_600_000 }], traces: { product_zone_temp: { avg, min: null, max: null } } } as unknown as Series;
  expect(risesOf(series, null, -15, 0)).toEqual([{ from: 3 * 3600, to: 4 * 3600, defrost: true }, { from: 10 * 3600, to: 12 * 3600, defrost: false }]);
  expect(risesOf(series, null, -15, 5 * 3600)).toHaveLength(1);
  expect([risesOf(series, null, -15, -86_400), risesOf({ ...series, step: '1h' }, null, -15, 0)]).toEqual([null, null]);
});

describe('the labels of the time axis', () => {
  test('do not run into each other, and days stay', () => {
    const labels = ['22 nov 6:00 p. m.', '12:00 a. m.', '6:00 a. m.', '12:00 p. m.'];
    expect(apart(labels, [60, 128, 196, 264], [95, 62, 56, 62], 340)).toEqual(['22 nov 6:00 p. m.', '', '6:00 a. m.', '12:00 p. m.']);
    expect(apart(labels, [60, 160, 260, 360], [95, 62, 56, 62], 400)).toEqual(labels);
  });
  test('are not cut off by an edge', () => expect(apart(['a', 'b', 'c'], [10, 100, 195], [30, 30, 30], 200)).toEqual(['', 'b', '']));
});
