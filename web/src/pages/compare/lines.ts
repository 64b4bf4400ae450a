// The histories of several units on one axis of time, and what they come to.
import type { Series } from '../../chart/series';
import type { Field } from '../../words/measure';

type Column = (number | null | undefined)[];

/** joined puts columns of their own times on one: undefined where a unit has no
 * reading of that moment, which its line passes over, null where it has a gap. */
export function joined(series: (Series | null)[], field: Field): { t: number[]; values: Column[] } {
  const all = new Set<number>();
  for (const s of series) for (const t of s?.t ?? []) all.add(t);
  const t = [...all].sort((a, b) => a - b);
  const at = new Map(t.map((x, i) => [x, i]));
  const values = series.map((s) => {
    const column: Column = new Array(t.length).fill(undefined);
    s?.t.forEach((x, i) => (column[at.get(x)!] = s.traces[field].avg[i] ?? null));
    return column;
  });
  return { t, values };
}

export interface Figures {
  last: number;
  lowest: number;
  mean: number;
  highest: number;
}

/** figuresOf sums up what was measured in the period; null where nothing was. */
export function figuresOf(s: Series | null, field: Field): Figures | null {
  if (!s) return null;
  const { avg, min, max } = s.traces[field];
  let n = 0, sum = 0, lowest = Infinity, highest = -Infinity, last = 0;
  avg.forEach((v, i) => {
    if (v == null) return;
    n++;
    sum += v;
    last = v;
    lowest = Math.min(lowest, min?.[i] ?? v);
    highest = Math.max(highest, max?.[i] ?? v);
  });
  return n ? { last, lowest, mean: sum / n, highest } : null;
}

/** near returns the value of a column at an index, or the newest before it within so many seconds. */
export function near(t: number[], values: Column, index: number, within = 900): number | null {
  for (let i = index; i >= 0 && t[index]! - t[i]! <= within; i--) {
    const v = values[i];
    if (v === null) return null;
    if (v !== undefined) return v;
  }
  return null;
}
