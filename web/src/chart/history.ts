// A day of a device in small: what the band gauge's shadow, the history strip
// and the small line on a card are made of.
import { api, ask, type Alert, type Schemas } from '../api/client';
import { conditionOfAlert, startOf, worse, type Condition } from '../words/condition';

const step = 15 * 60_000;
const slots = 96;

export interface Slot {
  at: number;
  min: number;
  avg: number;
  max: number;
}

/** Day is the last 24 h in slots of 15 min; null is a gap. */
export interface Day {
  from: number;
  slots: (Slot | null)[];
}

/** slotted puts buckets into their slots. */
export function slotted(buckets: { at: string; product_zone_temp?: { min: number; avg: number; max: number } | null }[], to: number): Day {
  const from = Math.floor(to / step) * step - (slots - 1) * step;
  const out: (Slot | null)[] = new Array(slots).fill(null);
  for (const b of buckets) {
    const i = Math.floor((Date.parse(b.at) - from) / step);
    if (i < 0 || i >= slots || !b.product_zone_temp) continue;
    out[i] = { at: from + i * step, ...b.product_zone_temp };
  }
  return { from, slots: out };
}

/** strip returns the worst condition of each cell's time, `calm` where there was
 * no alert; null is a gap. An excursion of late readings has no alert and is a warning. */
export function strip(day: Day, alerts: (Pick<Alert, 'type' | 'severity' | 'prediction' | 'condition_started_at' | 'triggered_at' | 'resolved_at'> & Partial<Pick<Alert, 'suppressed_by'>>)[], calm: 'ok' | 'unjudged' = 'ok', excursions: Pick<Schemas['Excursion'], 'from' | 'to' | 'found_late_at'>[] = [], cells = 48): (Condition | null)[] {
  const per = day.slots.length / cells;
  const out: (Condition | null)[] = [];
  // What another alert explains says nothing of its own.
  const spans = alerts.filter((a) => a.suppressed_by == null).map((a) => ({
    from: startOf(a),
    to: a.resolved_at ? Date.parse(a.resolved_at) : Infinity,
    condition: conditionOfAlert(a),
  }));
  for (const e of excursions) if (e.found_late_at) spans.push({ from: Date.parse(e.from), to: e.to ? Date.parse(e.to) : Infinity, condition: 'warning' });
  for (let i = 0; i < cells; i++) {
    const from = day.from + i * per * step;
    const to = from + per * step;
    let c: Condition | null = day.slots.slice(i * per, (i + 1) * per).some((s) => s !== null) ? calm : null;
    for (const s of spans) if (s.from < to && s.to > from && s.condition !== 'offline') c = worse(c ?? calm, s.condition);
    out.push(c);
  }
  return out;
}

/** reach is the range in which the temperature has been. */
export function reach(day: Day): { min: number; max: number } | null {
  let min = Infinity;
  let max = -Infinity;
  for (const s of day.slots) {
    if (!s) continue;
    min = Math.min(min, s.min);
    max = Math.max(max, s.max);
  }
  return min <= max ? { min, max } : null;
}

// ---- fetching, as little as possible

const kept = new Map<string, { day: Day; at: number }>();
const keepFor = 60_000;
const most = 400; // days kept
let running = 0;
const waiting: (() => void)[] = [];
const atOnce = 4;

/** dayOf returns the last 24 h of a device. What was asked for within a minute is
 * not asked for again, and only a few questions run at once, so that scrolling
 * through a large fleet stays light. */
export async function dayOf(serial: string, now: number, signal?: AbortSignal): Promise<Day> {
  const had = kept.get(serial);
  if (had && now - had.at < keepFor) return had.day;
  if (running >= atOnce) await new Promise<void>((go) => waiting.push(go));
  running++;
  try {
    signal?.throwIfAborted();
    const to = Math.ceil(now / step) * step;
    const data = await ask(
      api.GET('/v1/devices/{serial}/readings', {
        params: {
          path: { serial },
          query: { from: new Date(to - slots * step).toISOString(), to: new Date(to).toISOString(), step: '15m', fields: 'product_zone_temp', per_page: slots + 1 },
        },
        signal,
      }),
    );
    const day = slotted(data.buckets ?? [], now);
    if (kept.size >= most) kept.delete(kept.keys().next().value!);
    kept.set(serial, { day, at: now });
    return day;
  } finally {
    running--;
    waiting.shift()?.();
  }
}
