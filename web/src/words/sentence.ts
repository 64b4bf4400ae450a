// Sentences a person would say.
import type { Alert, Limits } from '../api/client';
import { conditionOf, isPrediction, startOf, worstAlert, type Condition } from './condition';
import { ago, count, duration, limit, temperature, type Units } from './format';

export interface Subject {
  name: string;
  status: 'online' | 'offline';
  lastSeenAt: number | null;
  temp: number | null;
  limits: Pick<Limits, 'temp_min' | 'temp_max'> | null;
  alerts: Alert[];
  defrosting?: boolean;
}

/** stateOf says how a device is, without its name: "−8.2 °C, too warm for 34 min. Limit −15 °C." */
export function stateOf(s: Subject, units: Units, now: number): string {
  const c = conditionOf(s, s.alerts);
  const alert = worstAlert(s.alerts);
  if (s.status === 'offline') return silence(s, now) + (alert && alert.type !== 'device_offline' ? ` ${about(alert, s, units, now)}` : '');
  if (alert) return about(alert, s, units, now);
  if (s.temp == null) return c === 'ok' ? 'Online, and has not sent a product temperature.' : '';
  return calm(s, s.temp, units);
}

function silence(s: Subject, now: number): string {
  if (s.lastSeenAt == null) return 'Never reported.';
  return `Silent for ${duration(now - s.lastSeenAt)}${s.temp == null ? '.' : ''}`.concat(
    s.temp == null ? '' : '; the last temperature is from then.',
  );
}

function calm(s: Subject, temp: number, units: Units): string {
  const { temp_min: min, temp_max: max } = s.limits ?? { temp_min: null, temp_max: null };
  const t = temperature(temp, units);
  if (max != null && temp > max) {
    return s.defrosting ? `${t} during a defrost. Limit ${limit(max, units)}.` : `${t}, above ${limit(max, units)}; not for long enough to alert.`;
  }
  if (min != null && temp < min) return `${t}, below ${limit(min, units)}; not for long enough to alert.`;
  if (s.defrosting) return `${t}, defrosting.`;
  return min == null && max == null ? `${t}. No limits are set.` : `${t}, within its limits.`;
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
  return isPrediction(a) ? `${headline(a)}.` : `${headline(a)} for ${held}.`;
}

/** headline is an alert's title without the device, which stands beside it anyway:
 * "Fish cooler (fish cooler) is too warm" → "Is too warm". */
export function headline(a: Pick<Alert, 'title' | 'device_name'>): string {
  let t = a.title.trim();
  if (a.device_name && t.startsWith(a.device_name)) {
    t = t.slice(a.device_name.length).trim();
    if (t.startsWith('(')) t = t.slice(t.indexOf(')') + 1).trim();
  }
  t = t.replace(/[.!]$/, '') || a.title;
  return t.charAt(0).toUpperCase() + t.slice(1);
}

/** sentence gives a text its full stop. */
export function sentence(text: string): string {
  const t = text.trim();
  return /[.!?]$/.test(t) ? t : t + '.';
}

/** fleetSentence answers the first question: is everything all right? */
export function fleetSentence(byCondition: Record<Condition, number>): string {
  const total = Object.values(byCondition).reduce((a, b) => a + b, 0);
  if (total === 0) return 'No devices yet.';
  const trouble = total - byCondition.ok;
  if (trouble === 0) return total === 1 ? 'The one device is all right.' : `All ${count(total, 'device')} are all right.`;
  if (byCondition.offline === total) return total === 1 ? 'The one device is offline.' : `All ${count(total, 'device')} are offline.`;
  return `${trouble.toLocaleString('en-GB')} of ${total.toLocaleString('en-GB')} ${trouble === 1 ? 'needs' : 'need'} attention.`;
}

/** freshness: "5 s ago", "never". */
export function freshness(at: number | null, now: number): string {
  return at == null ? 'never' : ago(at, now);
}
