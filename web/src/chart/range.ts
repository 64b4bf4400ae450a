// The span of time that charts show, as it stands in the address bar:
// ?range=7d, or ?from=…&to=… for a span of one's own.
import { tr } from '../words/tr';

export interface Range {
  from: number;
  to: number;
  /** The name of a span that ends now, or null for one that stands still. */
  name: string | null;
}

const hour = 3_600_000;
export const ranges: { name: string; label: string; long: string; ms: number }[] = [
  { name: '6h', label: '6 h', long: tr('Last 6 hours'), ms: 6 * hour },
  { name: '24h', label: '24 h', long: tr('Last 24 hours'), ms: 24 * hour },
  { name: '7d', label: '7 d', long: tr('Last 7 days'), ms: 7 * 24 * hour },
  { name: '30d', label: '30 d', long: tr('Last 30 days'), ms: 30 * 24 * hour },
];

const usual = '24h';
const shortest = 60_000; // ms

/** rangeOf reads the address; what makes no sense is the usual range. */
export function rangeOf(params: URLSearchParams, now: number): Range {
  const from = Date.parse(params.get('from') ?? '');
  const to = Date.parse(params.get('to') ?? '');
  if (!Number.isNaN(from) && !Number.isNaN(to) && to - from >= shortest) return { from, to, name: null };
  const named = ranges.find((r) => r.name === params.get('range')) ?? ranges.find((r) => r.name === usual)!;
  return { from: now - named.ms, to: now, name: named.name };
}

/** written is the other way round. */
export function written(r: { name: string } | { from: number; to: number }): Record<string, string> {
  if ('name' in r) return { range: r.name === usual ? '' : r.name, from: '', to: '' };
  return { range: '', from: new Date(r.from).toISOString(), to: new Date(Math.max(r.to, r.from + shortest)).toISOString() };
}

/** zoomedOut is three times as long, with the same middle, and never beyond now. */
export function zoomedOut(r: Range, now: number): { from: number; to: number } {
  const span = r.to - r.from;
  const to = Math.min(now, r.to + span);
  return { from: to - span * 3, to };
}

/** shifted moves by a share of the span, never beyond now. */
export function shifted(r: Range, share: number, now: number): { from: number; to: number } {
  const span = r.to - r.from;
  const to = Math.min(now, r.to + span * share);
  return { from: to - span, to };
}
