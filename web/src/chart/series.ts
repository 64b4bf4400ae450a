// A device's history in the columns that charts draw: a time axis and, for each
// measurement, the mean and the range of what was measured; for a counter, what
// it counted in each step. A gap is a null; it is never drawn across.
import type { Schemas } from '../api/client';
import { measures, type Field, type Measure } from '../words/measure';

export type Column = (number | null)[];

export interface Trace {
  avg: Column;
  /** Null where the history is raw, when the mean is the value itself, and of counters. */
  min: Column | null;
  max: Column | null;
}

export interface Span {
  from: number;
  to: number;
}

export interface Series {
  step: string;
  /** Seconds since 1970, ascending. */
  t: number[];
  traces: Record<Field, Trace>;
  /** Times of defrosts as the device reported them, ms. */
  defrosts: Span[];
  /** Whether its door stood open when the device last said so. */
  door?: boolean;
  /** Where counters stood at the end of raw history. */
  stood?: Stood;
}

type Stood = Partial<Record<Field, number>>;

/** seriesOf makes columns of a history answer. */
export function seriesOf(h: Schemas['HistoryData']): Series {
  return h.buckets ? ofBuckets(h.step, h.buckets) : ofReadings(h.readings ?? []);
}

function empty(step: string, ranged: boolean): Series {
  const traces = {} as Record<Field, Trace>;
  for (const m of measures) traces[m.field] = ranged && !m.counter ? { avg: [], min: [], max: [] } : { avg: [], min: null, max: null };
  return { step, t: [], traces, defrosts: [] };
}

function ofBuckets(step: string, buckets: Schemas['HistoryBucket'][]): Series {
  const s = empty(step, true);
  let defrost: Span | null = null;
  for (const b of buckets) {
    const at = Date.parse(b.at);
    s.t.push(at / 1000);
    if (b.defrost_active) {
      if (!defrost) s.defrosts.push((defrost = { from: at, to: at }));
      defrost.to = at + stepSeconds(step) * 1000;
    } else defrost = null;
    for (const { field } of measures) {
      const a = b[field];
      const trace = s.traces[field];
      trace.avg.push(!a ? null : 'increase' in a ? a.increase : a.avg);
      trace.min?.push(a ? a.min : null);
      trace.max?.push(a ? a.max : null);
    }
  }
  return s;
}

/** A silence of this many usual intervals is a gap. */
const gapAfter = 4;
const shortestGap = 90; // s

function ofReadings(readings: Schemas['HistoryReading'][]): Series {
  const s = empty('raw', false);
  const times = readings.map((r) => Date.parse(r.recorded_at) / 1000);
  const gap = Math.max(shortestGap, gapAfter * usualInterval(times));
  const stood: Stood = {};
  let defrost: Span | null = null;
  readings.forEach((r, i) => {
    const t = times[i]!;
    if (i > 0 && t - times[i - 1]! > gap) breakAt(s, times[i - 1]! + 1);
    s.t.push(t);
    for (const m of measures) s.traces[m.field].avg.push(drawnOf(m, r[m.field] ?? null, stood));
    if (r.defrost_active) {
      if (!defrost) s.defrosts.push((defrost = { from: t * 1000, to: t * 1000 }));
      defrost.to = t * 1000;
    } else if (r.defrost_active === false) defrost = null;
    s.door = r.door_open ?? s.door;
  });
  return { ...s, stood };
}

/** drawnOf is what a chart shows of a value: of a counter what it has counted
 * since the reading before. One that is lower than before has begun again from 0. */
function drawnOf(m: Measure, v: number | null, stood: Stood): number | null {
  if (!m.counter || v == null) return v;
  const before = stood[m.field];
  stood[m.field] = v;
  return before == null ? null : v >= before ? v - before : v;
}

/** breakAt adds a moment at which nothing is known. */
function breakAt(s: Series, t: number) {
  s.t.push(t);
  for (const { field } of measures) {
    const trace = s.traces[field];
    trace.avg.push(null);
    trace.min?.push(null);
    trace.max?.push(null);
  }
}

/** usualInterval is the median of the intervals, s. */
export function usualInterval(times: number[]): number {
  const d: number[] = [];
  for (let i = 1; i < times.length; i++) d.push(times[i]! - times[i - 1]!);
  d.sort((a, b) => a - b);
  return d[d.length >> 1] ?? 60;
}

/** appended adds a live reading at the end; an older one changes nothing. */
export function appended(s: Series, r: Partial<Record<Field, number | null>> & { recorded_at: string }): Series {
  const t = Date.parse(r.recorded_at) / 1000;
  const last = s.t.at(-1);
  if (last != null && t <= last) return s;
  const gap = Math.max(shortestGap, gapAfter * usualInterval(s.t.slice(-50)), stepSeconds(s.step) * 2);
  const out: Series = { ...s, t: [...s.t], traces: {} as Record<Field, Trace> };
  if (s.stood) out.stood = { ...s.stood };
  for (const { field } of measures) {
    const old = s.traces[field];
    out.traces[field] = { avg: [...old.avg], min: old.min && [...old.min], max: old.max && [...old.max] };
  }
  if (last != null && t - last > gap) breakAt(out, last + 1);
  out.t.push(t);
  for (const m of measures) {
    const trace = out.traces[m.field];
    const sent = r[m.field] ?? null;
    // One reading says nothing of what is counted in a whole step.
    const v = !m.counter ? sent : out.stood ? drawnOf(m, sent, out.stood) : null;
    trace.avg.push(v);
    trace.min?.push(v);
    trace.max?.push(v);
  }
  return out;
}

function stepSeconds(step: string): number {
  return { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '1d': 86_400 }[step] ?? 0;
}

/** hasAny reports whether anything was measured. */
export function hasAny(c: Column): boolean {
  return c.some((v) => v != null);
}

/** Rise is a time out of the limits in the readings. */
interface Rise {
  from: number; // s
  to: number; // s
  defrost: boolean;
}

const defrostTail = 1800; // s: the product follows a defrost by as much

/** risesOf returns the times since a moment, s, when the product was out of its limits, as the readings have them; null where the series does not reach back that far. */
export function risesOf(s: Series, min: number | null | undefined, max: number | null | undefined, since: number): Rise[] | null {
  if (!s.t.length || s.t[0]! > since + 3600 || stepSeconds(s.step) > 900) return null;
  const { avg, min: low, max: high } = s.traces.product_zone_temp;
  const out: Rise[] = [];
  let now: Rise | null = null;
  s.t.forEach((t, i) => {
    const hi = high?.[i] ?? avg[i];
    const lo = low?.[i] ?? avg[i];
    const beyond = t >= since && hi != null && lo != null && ((max != null && hi > max) || (min != null && lo < min));
    if (!beyond) {
      if (hi != null) now = null; // a gap ends nothing
      return;
    }
    if (!now) out.push((now = { from: t, to: t, defrost: false }));
    now.to = t;
  });
  for (const r of out) r.defrost = s.defrosts.some((d) => d.from / 1000 <= r.to && d.to / 1000 + defrostTail >= r.from);
  return out;
}
