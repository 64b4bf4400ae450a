// When a unit is expected to fail, as a chart draws it.
import type { Schemas } from '../api/client';
import type { Range } from './range';

const ahead = 0.4; // of the past that a chart shows: as much of the future at most

/** forecastOf is the moment of the failure and the interval in which it is likely, in ms; null where it is too far away to be drawn. */
export function forecastOf(p: Pick<Schemas['Prediction'], 'failure_expected_at' | 'lead_time_h' | 'lead_low_h' | 'lead_high_h'> | null, range: Range): { at: number; from: number; to: number } | null {
  if (!p?.failure_expected_at || p.lead_time_h == null || !range.name) return null;
  const at = Date.parse(p.failure_expected_at);
  const hours = (h: number) => at + (h - p.lead_time_h!) * 3_600_000;
  const last = range.to + (range.to - range.from) * ahead;
  const from = Math.max(range.to, hours(p.lead_low_h ?? p.lead_time_h));
  if (from >= last || at <= range.to) return null;
  return { at, from, to: Math.min(last, p.lead_high_h == null ? last : hours(p.lead_high_h)) };
}
