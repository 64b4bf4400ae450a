// A measurement of the same span some days before, on the time axis of the present one.
import type { Field } from '../words/measure';
import { usualInterval, type Column, type Series } from './series';

export type Behind = '' | 'day' | 'week';

/** back is how long ago that span was, ms. */
export const back: Record<Exclude<Behind, ''>, number> = { day: 86_400_000, week: 7 * 86_400_000 };

/** behindOf returns, for every moment of a series, the value that was measured ms before it: the nearest one
 * within two usual intervals of either series, null where there is none. */
export function behindOf(series: Series, former: Series, field: Field, ms: number): Column {
  const reach = 2 * Math.max(usualInterval(series.t), usualInterval(former.t));
  const values = former.traces[field].avg;
  let i = 0;
  return series.t.map((t) => {
    const at = t - ms / 1000;
    while (i + 1 < former.t.length && Math.abs(former.t[i + 1]! - at) <= Math.abs(former.t[i]! - at)) i++;
    return former.t.length && Math.abs(former.t[i]! - at) <= reach ? values[i]! : null;
  });
}

export interface Extent {
  min: number;
  mean: number;
  max: number;
  /** Of a counter: what it counted in all. */
  sum: number;
}

/** extentOf is how far a measurement reached within a series, null where nothing was measured. */
export function extentOf(series: Series, field: Field): Extent | null {
  const { avg, min, max } = series.traces[field];
  const out = { min: Infinity, mean: 0, max: -Infinity, sum: 0 };
  let n = 0;
  avg.forEach((v, i) => {
    if (v == null) return;
    n++;
    out.sum += v;
    out.min = Math.min(out.min, min?.[i] ?? v);
    out.max = Math.max(out.max, max?.[i] ?? v);
  });
  return n ? { ...out, mean: out.sum / n } : null;
}
