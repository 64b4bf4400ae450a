// Months in a time zone.
import { formatter, localDay } from '../../words/format';
import { moment } from '../../words/typed';

export interface Month {
  /** "2026-11" */
  value: string;
  /** "November 2026" */
  label: string;
}

/** months lists this month and the n−1 before it, newest first. */
export function months(now: number, zone: string, n: number): Month[] {
  const [y = 1970, m = 1] = localDay(now, zone).split('-').map(Number);
  return Array.from({ length: n }, (_, i) => {
    const d = new Date(Date.UTC(y, m - 1 - i, 1));
    return {
      value: d.toISOString().slice(0, 7),
      label: formatter('UTC', { month: 'long', year: 'numeric' }).format(d),
    };
  });
}

/** monthSpan is [first midnight, first midnight of the next month), as RFC 3339. */
export function monthSpan(value: string, zone: string): { from: string; to: string } {
  const [y = 1970, m = 1] = value.split('-').map(Number);
  const first = (month: string) => new Date(moment(`${month}-01T00:00`, zone)).toISOString();
  return { from: first(value), to: first(new Date(Date.UTC(y, m, 1)).toISOString().slice(0, 7)) };
}

/** daysSpan is [the first midnight of a day, the one after another day), as RFC 3339; nothing where that is no period. */
export function daysSpan(first: string, last: string, zone: string): { from: string; to: string } | null {
  const [from, to] = [first, last].map((d) => (/^\d{4}-\d\d-\d\d$/.test(d) ? Date.parse(d) : NaN)) as [number, number];
  if (!(from <= to)) return null;
  const midnight = (at: number) => new Date(moment(`${localDay(at, 'UTC')}T00:00`, zone)).toISOString();
  return { from: midnight(from), to: midnight(to + 86_400_000) };
}
