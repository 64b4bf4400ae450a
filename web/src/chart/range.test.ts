import { describe, expect, test } from 'vitest';
import { rangeOf, shifted, written, zoomedOut } from './range';
import { appended, seriesOf, usualInterval } from './series';
import type { Schemas } from '../api/client';

const now = Date.parse('2026-11-20T20:00:00Z');
const hour = 3_600_000;

describe('the range in the address', () => {
  test.each<[string, { from: number; to: number; name: string | null }]>([
    ['', { from: now - 24 * hour, to: now, name: '24h' }],
    ['range=7d', { from: now - 168 * hour, to: now, name: '7d' }],
    ['range=nonsense', { from: now - 24 * hour, to: now, name: '24h' }],
    ['from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z', { from: Date.parse('2026-11-01T00:00:00Z'), to: Date.parse('2026-11-02T00:00:00Z'), name: null }],
    ['from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z&range=6h', { from: now - 6 * hour, to: now, name: '6h' }],
    ['from=yesterday&to=today', { from: now - 24 * hour, to: now, name: '24h' }],
  ])('%s', (query, want) => expect(rangeOf(new URLSearchParams(query), now)).toEqual(want));
  test('what is written is read again', () => {
    const span = { from: now - 3 * hour, to: now - hour };
    expect(rangeOf(new URLSearchParams(written(span)), now)).toEqual({ ...span, name: null });
    expect(written({ name: '24h' })).toEqual({ range: '', from: '', to: '' });
  });
  test('nothing reaches beyond now', () => {
    const r = { from: now - 2 * hour, to: now - hour, name: null };
    expect(zoomedOut(r, now)).toEqual({ from: now - 3 * hour, to: now });
    expect(shifted(r, 5, now)).toEqual({ from: now - hour, to: now });
    expect(shifted(r, -1, now)).toEqual({ from: now - 3 * hour, to: now - 2 * hour });
  });
});

describe('series', () => {
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
  const reading = (minutes: number, v: number | null, defrost?: boolean) => ({ recorded_at: at(minutes), received_at: at(minutes), sensor_faults: [], product_zone_temp: v, ...(defrost === undefined ? {} : { defrost_active: defrost }) });
  const history = (h: Partial<Schemas['HistoryData']>) => ({ device_id: 1, device_serial: 'A', from: at(0), to: at(60), step: 'raw', ...h }) as Schemas['HistoryData'];

  test('a silence is a gap, a missing value too, and neither is drawn across', () => {
    const s = seriesOf(history({ readings: [reading(0, -20), reading(1, null), reading(2, -19), reading(30, -18), reading(31, -18)] }));
    expect(s.traces.product_zone_temp.avg).toEqual([-20, null, -19, null, -18, -18]);
    expect(s.t).toHaveLength(6);
    expect([...s.t].sort((a, b) => a - b)).toEqual(s.t);
    expect(s.traces.humidity.avg.every((v) => v === null)).toBe(true);
  });
  test('slow devices have no gaps between their usual readings', () => {
    const s = seriesOf(history({ readings: [0, 15, 30, 45].map((m) => reading(m, 3)) }));
    expect(s.t).toHaveLength(4);
    expect(usualInterval(s.t)).toBe(900);
  });
  test('defrosts of steps that say so, side by side in one', () => {
    const bucket = (minutes: number, defrost = false) => ({ at: at(minutes), count: 5, ...(defrost ? { defrost_active: true } : {}) });
    const s = seriesOf(history({ step: '5m', buckets: [bucket(0), bucket(5, true), bucket(10, true), bucket(15), bucket(20, true)] }));
    expect(s.defrosts).toEqual([{ from: now + 300_000, to: now + 900_000 }, { from: now + 1_200_000, to: now + 1_500_000 }]);
  });
  test('defrosts as the device reports them', () => {
    const s = seriesOf(history({ readings: [reading(0, 1, false), reading(1, 1, true), reading(2, 1, true), reading(3, 1, false), reading(4, 1, true)] }));
    expect(s.defrosts).toEqual([{ from: now + 60_000, to: now + 120_000 }, { from: now + 240_000, to: now + 240_000 }]);
  });
  test('buckets keep their range, and empty ones are gaps', () => {
    const s = seriesOf(history({ step: '1h', buckets: [{ at: at(0), count: 2, product_zone_temp: { min: -21, avg: -20, max: -19 } }, { at: at(60), count: 0, product_zone_temp: null }] }));
    expect(s.traces.product_zone_temp).toEqual({ avg: [-20, null], min: [-21, null], max: [-19, null] });
  });
  test('live readings carry the end on; older ones and gaps', () => {
    const s = seriesOf(history({ readings: [reading(0, -20), reading(1, -20)] }));
    const next = appended(s, { recorded_at: at(2), product_zone_temp: -19 });
    expect(next.traces.product_zone_temp.avg).toEqual([-20, -20, -19]);
    expect(s.traces.product_zone_temp.avg).toEqual([-20, -20]);
    expect(appended(next, { recorded_at: at(1), product_zone_temp: 0 })).toBe(next);
    expect(appended(next, { recorded_at: at(40), product_zone_temp: -18 }).traces.product_zone_temp.avg).toEqual([-20, -20, -19, null, -18]);
  });
});
