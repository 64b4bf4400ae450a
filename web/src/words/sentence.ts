// Sentences about devices and the fleet.
import type { Alert, Limits } from '../api/client';
import { conditionOf, isPrediction, startOf, worstAlert, type Condition } from './condition';
import { ago, count, duration, grouped, limit, temperature, type Units } from './format';
import { zoneNote, type ZoneState } from './zone';

export interface Subject {
  name: string;
  status: 'online' | 'offline';
  lastSeenAt: number | null;
  temp: number | null;
  limits: Pick<Limits, 'temp_min' | 'temp_max'> | null;
  alerts: Alert[];
  judged: boolean;
  defrosting?: boolean;
  /** What its zone does, where that is known. */
  zone?: ZoneState | null;
  timezone?: string;
}

/** stateOf says how a device is doing, without its name: "−8.2 °C, too warm for 34 min. Limit −15 °C." */
export function stateOf(s: Subject, units: Units, now: number): string {
  const c = conditionOf(s, s.alerts);
  const alert = worstAlert(s.alerts);
  if (s.status === 'offline') return silence(s, now) + (alert && alert.type !== 'device_offline' ? ` ${about(alert, s, units, now)}` : '');
  if (alert) return about(alert, s, units, now);
  if (c === 'unjudged') return unjudged(s, units);
  if (s.temp == null) return 'Online. This type has no product temperature; its compressor is watched.';
  return calm(s, s.temp, units, now);
}

// Why nobody would be alerted, and the way out.
function unjudged(s: Subject, units: Units): string {
  const { temp_min: min, temp_max: max } = s.limits ?? { temp_min: null, temp_max: null };
  if (s.temp == null) return 'Online, but no product temperature received yet: nobody is alerted if it gets too warm.';
  const t = temperature(s.temp, units);
  if (min == null && max == null) return `${t}. Nobody is alerted: choose its type or set limits.`;
  return `${t}, but no new temperature for a day: nobody is alerted if it gets too warm.`;
}

function silence(s: Subject, now: number): string {
  if (s.lastSeenAt == null) return 'Never reported.';
  return `No data for ${duration(now - s.lastSeenAt)}${s.temp == null ? '.' : ''}`.concat(
    s.temp == null ? '' : '; the temperature shown is from then.',
  );
}

function calm(s: Subject, temp: number, units: Units, now: number): string {
  const { temp_min: min, temp_max: max } = s.limits ?? { temp_min: null, temp_max: null };
  const t = temperature(temp, units);
  const low = min != null && temp < min;
  const beyond = low ? min : max != null && temp > max ? max : null;
  const note = zoneNote({ state: s.zone ?? null, low, timezone: s.timezone ?? 'UTC' }, now);
  if (note) return `${t}, ${note}.${beyond == null ? '' : ` Limit ${limit(beyond, units)}.`}`;
  if (beyond != null) return s.defrosting && !low ? `${t} during a defrost. Limit ${limit(beyond, units)}.` : `${t}, ${low ? 'below' : 'above'} ${limit(beyond, units)}; not long enough to alert.`;
  if (s.defrosting) return `${t}, defrosting.`;
  return min == null && max == null ? `${t}.` : `${t}, within its limits.`;
}

function about(a: Alert, s: Subject, units: Units, now: number): string {
  const held = duration(now - startOf(a));
  const t = temperature(s.temp ?? a.value, units);
  const max = a.threshold ?? s.limits?.temp_max;
  const min = a.threshold ?? s.limits?.temp_min;
  switch (a.type) {
    case 'high_temperature':
      return `${t}, too warm for ${held}.${max == null ? '' : ` Limit ${limit(max, units)}.`}`;
    case 'low_temperature':
      return `${t}, too cold for ${held}.${min == null ? '' : ` Limit ${limit(min, units)}.`}`;
    case 'device_offline':
      return silence(s, now);
  }
  return isPrediction(a) ? `${a.title}.` : `${a.title} for ${held}.`;
}

/** sentence adds a full stop where there is none. */
export function sentence(text: string): string {
  const t = text.trim();
  return /[.!?]$/.test(t) ? t : t + '.';
}

/** fleetSentence answers the first question: is everything all right? never is how many have not reported yet. */
export function fleetSentence(byCondition: Record<Condition, number>, never = 0): string {
  const total = Object.values(byCondition).reduce((a, b) => a + b, 0);
  if (total === 0) return 'No devices yet.';
  if (never === total) return total === 1 ? 'Waiting for the first reading.' : `Waiting for the first readings of ${count(total, 'device')}.`;
  const trouble = total - byCondition.ok;
  if (trouble === 0) return `Everything is fine (${count(total, 'device')}).`;
  if (byCondition.unjudged === trouble) return total === 1 ? 'Your only device is not judged: nobody is alerted.' : `${grouped(trouble)} of ${grouped(total)} ${trouble === 1 ? 'is' : 'are'} not judged: nobody is alerted.`;
  if (byCondition.offline === total) return total === 1 ? 'Your only device is offline.' : `All ${count(total, 'device')} are offline.`;
  return `${grouped(trouble)} of ${grouped(total)} ${trouble === 1 ? 'needs' : 'need'} attention.`;
}

/** freshness: "5 s ago", "never". */
export function freshness(at: number | null, now: number): string {
  return at == null ? 'never' : ago(at, now);
}
