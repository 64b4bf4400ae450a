// Months in a time zone.
import { monthYear } from '../../words/format';

export interface Month {
  /** "2026-11" */
  value: string;
  /** "November 2026" */
  label: string;
}

const parts = (at: number, zone: string) => {
  const f = new Intl.DateTimeFormat('en-GB', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  return Object.fromEntries(f.formatToParts(at).map((p) => [p.type, Number(p.value)])) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>;
};

/** months lists this month and the n−1 before it, newest first. */
export function months(now: number, zone: string, n: number): Month[] {
  const p = parts(now, zone);
  return Array.from({ length: n }, (_, i) => {
    const d = new Date(Date.UTC(p.year, p.month - 1 - i, 1));
    return {
      value: d.toISOString().slice(0, 7),
      label: monthYear(d.getTime(), 'UTC'),
    };
  });
}

/** midnight is the moment at which a day begins in a zone. */
export function midnight(year: number, month: number, day: number, zone: string): number {
  const wanted = Date.UTC(year, month - 1, day);
  // The offset is looked up twice: the first guess may lie across a change of clocks.
  let at = wanted;
  for (let i = 0; i < 2; i++) {
    const p = parts(at, zone);
    at += wanted - Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second);
  }
  return at;
}

/** monthSpan is [first midnight, first midnight of the next month), as RFC 3339. */
export function monthSpan(value: string, zone: string): { from: string; to: string } {
  const [y = 1970, m = 1] = value.split('-').map(Number);
  return {
    from: new Date(midnight(y, m, 1, zone)).toISOString(),
    to: new Date(midnight(m === 12 ? y + 1 : y, m === 12 ? 1 : m + 1, 1, zone)).toISOString(),
  };
}
