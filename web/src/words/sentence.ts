// Sentences about devices and the fleet.
import type { Alert, Limits } from '../api/client';
import { conditionOf, isPrediction, startOf, worstAlert, type Condition } from './condition';
import { ago, duration, grouped, limit, temperature, type Units } from './format';
import { backNote, zoneNote, type ZoneState } from './zone';
import { plural, tr } from './tr';

export interface Subject {
  name: string;
  status: 'online' | 'offline';
  lastSeenAt: number | null;
  temp: number | null;
  /** When that was measured, in ms, where it is known. */
  tempAt?: number | null;
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
  const missed = missing(s, units, now);
  if (missed) return missed;
  if (s.temp == null) return tr('Online. This type has no product temperature; its compressor is watched.');
  return calm(s, s.temp, units, now);
}

// unmeasured is how much older than the device's newest word a temperature may be: a quarter of an hour.
const unmeasured = 15 * 60_000;

// A temperature that does not come any more while the device goes on reporting is not the present one.
function missing(s: Subject, units: Units, now: number): string {
  if (s.temp == null || s.tempAt == null || s.lastSeenAt == null || s.lastSeenAt - s.tempAt <= unmeasured || now - s.tempAt <= unmeasured) return '';
  return tr('No temperature for {span}, though it reports. The last one was {value}.', { span: duration(now - s.tempAt), value: temperature(s.temp, units) });
}

// Why nobody would be alerted, and the way out.
function unjudged(s: Subject, units: Units): string {
  const { temp_min: min, temp_max: max } = s.limits ?? { temp_min: null, temp_max: null };
  if (s.temp == null) return tr('Online, but no product temperature received yet: nobody is alerted if it gets too warm.');
  const t = temperature(s.temp, units);
  if (min == null && max == null) return tr('{value}. Nobody is alerted: choose its type or set limits.', { value: t });
  return tr('{value}, but no new temperature for a day: nobody is alerted if it gets too warm.', { value: t });
}

function silence(s: Subject, now: number): string {
  if (s.lastSeenAt == null) return s.temp == null ? tr('Never reported.') : tr('Known by files of a logger alone; the temperature shown is the newest of them.');
  const span = duration(now - s.lastSeenAt);
  return s.temp == null ? tr('No data for {span}.', { span }) : tr('No data for {span}; the temperature shown is from then.', { span });
}

function calm(s: Subject, temp: number, units: Units, now: number): string {
  const { temp_min: min, temp_max: max } = s.limits ?? { temp_min: null, temp_max: null };
  const t = temperature(temp, units);
  const low = min != null && temp < min;
  const beyond = low ? min : max != null && temp > max ? max : null;
  const note = zoneNote({ state: s.zone ?? null, low, timezone: s.timezone ?? 'UTC' }, now);
  if (note) return `${t}, ${note}.${beyond == null ? '' : ' ' + tr('Limit {limit}.', { limit: limit(beyond, units) })}`;
  if (beyond != null) {
    const at = { value: t, limit: limit(beyond, units) };
    if (low) return tr('{value}, below {limit}; not long enough to alert.', at);
    return s.defrosting ? tr('{value} during a defrost. Limit {limit}.', at) : tr('{value}, above {limit}; not long enough to alert.', at);
  }
  if (s.defrosting) return tr('{value}, defrosting.', { value: t });
  return min == null && max == null ? `${t}.` : tr('{value}, within its limits.', { value: t });
}

function about(a: Alert, s: Subject, units: Units, now: number): string {
  const lasted = now - startOf(a);
  const held = duration(lasted);
  const t = temperature(s.temp ?? a.value, units);
  const beyond = (of: number | null | undefined) => (of == null ? '' : ' ' + tr('Limit {limit}.', { limit: limit(of, units) }));
  // A limit without a delay alerts before there is a span to name.
  if (lasted < 1000 && a.type !== 'device_offline') return a.type === 'high_temperature' || a.type === 'low_temperature' ? `${t}. ${a.title}.` + beyond(a.threshold) : `${a.title}.`;
  switch (a.type) {
    case 'high_temperature':
    case 'low_temperature': {
      const warm = a.type === 'high_temperature';
      // Of the device's limits the one that it has passed; the alert's may be the critical one, which it may be within again.
      const passed = [warm ? s.limits?.temp_max : s.limits?.temp_min, a.threshold].find((l) => l != null && (s.temp == null || (warm ? s.temp > l : s.temp < l)));
      if (s.temp != null && passed == null) return back(s, t, now) + beyond((warm ? s.limits?.temp_max : s.limits?.temp_min) ?? a.threshold);
      return (warm ? tr('{value}, too warm for {held}.', { value: t, held }) : tr('{value}, too cold for {held}.', { value: t, held })) + beyond(passed ?? a.threshold);
    }
    case 'device_offline':
      return silence(s, now);
  }
  return isPrediction(a) ? `${a.title}.` : tr('{title} for {held}.', { title: a.title, held });
}

// An alert stays until the value has been back for a while.
function back(s: Subject, value: string, now: number): string {
  if (!s.zone?.back_since) return tr('{value}, back inside its limit; the alert ends once it has stayed there.', { value });
  return `${value}, ${backNote(s.zone.back_since, s.zone.clear_at, s.timezone ?? 'UTC', now)}.`;
}

/** sentence adds a full stop where there is none. */
export function sentence(text: string): string {
  const t = text.trim();
  return /[.!?]$/.test(t) ? t : t + '.';
}

/** devicesIn is how many there are in all conditions. */
export const devicesIn = (by: Record<Condition, number>) => Object.values(by).reduce((a, b) => a + b, 0);

/** fleetSentence answers the first question: is everything all right? never is how many have not reported yet. */
export function fleetSentence(byCondition: Record<Condition, number>, never = 0): string {
  const total = devicesIn(byCondition);
  if (total === 0) return tr('No devices yet.');
  if (never === total) return plural(total, 'Waiting for the first reading.', 'Waiting for the first readings of {n} devices.');
  const trouble = total - byCondition.ok;
  if (trouble === 0) return plural(total, 'Everything is fine ({n} device).', 'Everything is fine ({n} devices).');
  if (byCondition.unjudged === trouble) return total === 1 ? tr('Your only device is not judged: nobody is alerted.') : plural(trouble, '{n} of {total} is not judged: nobody is alerted.', '{n} of {total} are not judged: nobody is alerted.', { total: grouped(total) });
  if (byCondition.offline === total) return plural(total, 'Your only device is offline.', 'All {n} devices are offline.');
  return plural(trouble, '{n} of {total} needs attention.', '{n} of {total} need attention.', { total: grouped(total) });
}

/** freshness: "5 s ago", "never". */
export function freshness(at: number | null, now: number): string {
  return at == null ? tr('never') : ago(at, now);
}
