import { describe, expect, test } from 'vitest';
import { forecastOf } from './forecast';

const hour = 3_600_000;
const now = Date.parse('2026-11-20T12:00:00Z');
const range = (hours: number, name: string | null = '7d') => ({ from: now - hours * hour, to: now, name }) as Parameters<typeof forecastOf>[1];
const expected = (h: number, low?: number, high?: number) =>
  ({ failure_expected_at: new Date(now + h * hour).toISOString(), lead_time_h: h, lead_low_h: low, lead_high_h: high }) as Parameters<typeof forecastOf>[0];
const hours = (f: ReturnType<typeof forecastOf>) => f && [f.at, f.from, f.to].map((t) => (t - now) / hour);

describe('the forecast on a chart', () => {
  test('has its moment and its interval', () => expect(hours(forecastOf(expected(48, 24, 60), range(168)))).toEqual([48, 24, 60]));
  test('reaches two fifths of the past into the future', () => expect(hours(forecastOf(expected(60, 30, 200), range(168)))).toEqual([60, 30, 168 * 0.4]));
  test('begins with the present', () => expect(hours(forecastOf(expected(10, -5, 20), range(168)))).toEqual([10, 0, 20]));
  test('without an interval it is open to the end', () => expect(hours(forecastOf(expected(10), range(100)))).toEqual([10, 10, 40]));
  test.each([
    ['that is far away', expected(100, 80, 120), range(168)],
    ['that is over', expected(-1, -2, 5), range(168)],
    ['on a span of the past', expected(48, 24, 60), range(168, null)],
    ['without a time', { ...expected(48)!, failure_expected_at: null }, range(168)],
    ['that nobody made', null, range(168)],
  ])('%s is not drawn', (_, p, r) => expect(forecastOf(p, r)).toBeNull());
});
