import { describe, expect, test } from 'vitest';
import { reach, slotted, strip } from './history';
import { bandScale } from './scale';

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
  });
});
