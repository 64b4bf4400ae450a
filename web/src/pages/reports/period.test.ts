import { describe, expect, it } from 'vitest';
import { daysSpan, months, monthSpan } from './period';

describe('months', () => {
  it('counts back over the year in the site’s own zone', () => {
    // 23:30 UTC on 31 December is January in Berlin.
    const at = Date.UTC(2026, 11, 31, 23, 30);
    expect(months(at, 'Europe/Berlin', 2).map((m) => m.value)).toEqual(['2027-01', '2026-12']);
    expect(months(at, 'UTC', 2).map((m) => m.label)).toEqual(['December 2026', 'November 2026']);
  });
});

describe('monthSpan', () => {
  it('has the length that the clocks give it', () => {
    const hours = (v: string, z: string) => {
      const s = monthSpan(v, z);
      return (Date.parse(s.to) - Date.parse(s.from)) / 3_600_000;
    };
    expect(hours('2026-03', 'Europe/Berlin')).toBe(31 * 24 - 1);
    expect(hours('2026-10', 'Europe/Berlin')).toBe(31 * 24 + 1);
    expect(hours('2026-03', 'UTC')).toBe(31 * 24);
    expect(monthSpan('2026-12', 'America/New_York')).toEqual({ from: '2026-12-01T05:00:00.000Z', to: '2027-01-01T05:00:00.000Z' });
  });
});

describe('daysSpan', () => {
  it('has both days whole, by the clocks there', () => {
    expect(daysSpan('2026-10-19', '2026-10-25', 'Europe/Berlin')).toEqual({ from: '2026-10-18T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z' });
    expect(daysSpan('2026-12-31', '2026-12-31', 'UTC')).toEqual({ from: '2026-12-31T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' });
  });
  it.each([['', ''], ['2026-10-25', '2026-10-19'], ['2026-13-01', '2026-13-02'], ['yesterday', '2026-10-19']])('is nothing from %s to %s', (from, to) => expect(daysSpan(from, to, 'UTC')).toBeNull());
});
