import { expect, test } from 'vitest';
import { behindOf, extentOf } from './behind';
import type { Series } from './series';

const at = Date.parse('2026-11-20T00:00:00Z') / 1000;
const day = 86_400_000;
const series = (from: number, step: number, avg: (number | null)[], more: Partial<Series['traces']['product_zone_temp']> = {}) =>
  ({ step: 'raw', t: avg.map((_, i) => from + i * step), traces: { product_zone_temp: { avg, min: null, max: null, ...more } }, defrosts: [] }) as unknown as Series;

test('the day before stands behind the moments of today, the nearest value of each, a gap as a gap', () => {
  const now = series(at, 60, [1, 2, 3, 4, 5, 6]);
  expect(behindOf(now, series(at - 86_400 + 10, 60, [11, null, 13, 14]), 'product_zone_temp', day)).toEqual([11, null, 13, 14, 14, 14]);
  expect(behindOf(now, series(at - 86_400, 60, []), 'product_zone_temp', day)).toEqual([null, null, null, null, null, null]);
  // Of another day there is nothing, and what was read half as often is drawn as often as it was.
  expect(behindOf(now, series(at - 2 * 86_400, 60, [1, 2]), 'product_zone_temp', day)).toEqual([null, null, null, null, null, null]);
  expect(behindOf(now, series(at - 86_400, 120, [1, 2, 3]), 'product_zone_temp', day)).toEqual([1, 2, 2, 3, 3, 3]);
});

test('how far a measurement reached: by the lowest and highest of each step, the mean of what is known', () => {
  expect(extentOf(series(at, 60, [1, null, 3]), 'product_zone_temp')).toEqual({ min: 1, mean: 2, max: 3, sum: 4 });
  expect(extentOf(series(at, 60, [1, null, 3], { min: [-2, null, 3], max: [1, null, 9] }), 'product_zone_temp')).toEqual({ min: -2, mean: 2, max: 9, sum: 4 });
  expect(extentOf(series(at, 60, [null]), 'product_zone_temp')).toBeNull();
});
