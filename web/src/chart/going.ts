// Where a temperature that is out of its limits is going.
import type { Series } from './series';

/** Going is the way that a temperature takes: back towards a limit, by when, ms (null = not at this rate, or not soon), or away from it. */
export interface Going {
  towards: boolean;
  by: number | null;
}

const half = 15 * 60; // s: two of them are looked at
const fewest = 3; // values in each
const slowest = 0.5 / 3600; // K/s: what is slower stands
const farthest = 6 * 3600; // s: nobody can tell what is later

/** goingOf looks at the half hour that ends with the newest value. A unit that pulls down slows down as it comes near what
 * it can hold: the second quarter of an hour beside the first says how much, and the next ones are taken to slow down alike. */
export function goingOf(series: Series, limit: number, above: boolean): Going | null {
  const { t, traces } = series;
  const values = traces.product_zone_temp.avg;
  const last = values.findLastIndex((v) => v != null);
  if (last < 0) return null;
  const end = t[last]!;
  const points: [number, number][] = [];
  for (let i = last; i >= 0 && t[i]! > end - 2 * half - 1; i--) if (values[i] != null) points.push([t[i]! - end, values[i]!]);
  const late = points.filter(([at]) => at >= -half);
  const early = points.filter(([at]) => at <= -half);
  if (late.length < fewest || early.length < fewest) return null;
  const sign = above ? -1 : 1; // of a way back
  const [now, before] = [slopeOf(late) * sign, slopeOf(early) * sign];
  if (Math.abs(now) < slowest) return null;
  if (now < 0) return { towards: false, by: null };
  if (before <= 0) return { towards: true, by: null }; // it has just turned
  const q = Math.min(1, now / before);
  let left = (values[last]! - limit) * (above ? 1 : -1);
  let step = now * half;
  for (let after = 0; after < farthest; after += half) {
    step *= q;
    if (left <= step) return { towards: true, by: (end + after + (left / step) * half) * 1000 };
    left -= step;
  }
  return { towards: true, by: null };
}

// Least squares, K/s.
function slopeOf(points: [number, number][]): number {
  const n = points.length;
  const [mt, mv] = [points.reduce((s, p) => s + p[0], 0) / n, points.reduce((s, p) => s + p[1], 0) / n];
  const spread = points.reduce((s, p) => s + (p[0] - mt) ** 2, 0);
  return spread ? points.reduce((s, p) => s + (p[0] - mt) * (p[1] - mv), 0) / spread : 0;
}
