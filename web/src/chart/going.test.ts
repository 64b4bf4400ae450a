import { describe, expect, test } from 'vitest';
import { goingOf } from './going';
import type { Series } from './series';

const end = Date.parse('2026-11-20T08:00:00Z') / 1000;
/** from makes a series of every minute that ends at end, by a function of minutes before it (negative). */
const from = (f: (minute: number) => number | null, minutes = 60, step = 1) => {
  const t: number[] = [], avg: (number | null)[] = [];
  for (let m = -minutes; m <= 0; m += step) {
    t.push(end + m * 60);
    avg.push(f(m));
  }
  return { step: 'raw', t, traces: { product_zone_temp: { avg, min: null, max: null } }, defrosts: [] } as unknown as Series;
};
const minutesTo = (g: ReturnType<typeof goingOf>) => (g?.by == null ? null : Math.round((g.by / 1000 - end) / 60));

describe('where a temperature is going', () => {
  test('down in a straight line: when it passes the limit', () => expect(minutesTo(goingOf(from((m) => 10 - 0.2 * (m + 60)), -6, true))).toBe(20));
  test('by every fifth minute as well', () => expect(minutesTo(goingOf(from((m) => 10 - 0.2 * (m + 60), 60, 5), -6, true))).toBe(20));
  test('an exponential pull-down: within a tenth of the true time', () => {
    const at = (m: number) => -20 + 18 * Math.exp(-(m + 60) / 50);
    const truth = 50 * Math.log(18 / 2) - 60; // when it passes −18
    const got = minutesTo(goingOf(from(at), -18, true))!;
    expect(Math.abs(got - truth)).toBeLessThan(truth * 0.1 + 1);
  });
  test('one that levels off above its limit never comes there', () => expect(goingOf(from((m) => -10 + 8 * Math.exp(-(m + 60) / 25)), -15, true)).toEqual({ towards: true, by: null }));
  test('upwards is away from an upper limit, and towards a lower one', () => {
    expect(goingOf(from((m) => 5 + 0.1 * m), 3, true)).toEqual({ towards: false, by: null });
    expect(minutesTo(goingOf(from((m) => 1 + 0.1 * m), 2, false))).toBe(10);
  });
  test('one that has just turned: towards, nobody knows by when', () => expect(goingOf(from((m) => (m < -15 ? 8 + 0.1 * (m + 15) : 8 - 0.1 * (m + 15))), 2, true)).toEqual({ towards: true, by: null }));
  test('one that stands, too few values, a gap: nothing', () => {
    expect(goingOf(from(() => 8), 5, true)).toBeNull();
    expect(goingOf(from((m) => 8 - m, 60, 15), 5, true)).toBeNull();
    expect(goingOf(from((m) => (m > -40 && m < -5 ? null : 8 - m)), 5, true)).toBeNull();
    expect(goingOf(from(() => null), 5, true)).toBeNull();
  });
});
