// What is said of an excursion.
import type { Schemas } from '../api/client';
import { duration, humanised, limit, temperature, type Units } from './format';
import { show } from './show.svelte';
import { plural, tr } from './tr';

const causes: Record<string, string> = {
  defrost: tr('defrost'), door: tr('door open'), loading: tr('loading'), fault: tr('equipment fault'),
  power: tr('power supply'), sensor: tr('doubtful sensor'), unknown: tr('unknown'),
};

/** causeName is a cause inside a sentence: "door open". */
export function causeName(cause: string): string {
  return causes[cause] ?? humanised(cause).toLowerCase();
}

/** excursion: "for 2 h 5 min so far: up to −9.4 °C, limit −15 °C.", "28 short times, 16 h 20 min together: up to 7.5 °C, limit 5 °C." */
export function excursion(e: Pick<Schemas['Excursion'], 'duration_s' | 'to' | 'low' | 'peak' | 'limit' | 'short_times'>, units: Units): string {
  const v = { span: duration(e.duration_s * 1000), peak: temperature(e.peak, units), limit: limit(e.limit, units) };
  if (e.short_times) {
    return e.low
      ? plural(e.short_times, '{n} short time, {span}: down to {peak}, limit {limit}.', '{n} short times, {span} together: down to {peak}, limit {limit}.', v)
      : plural(e.short_times, '{n} short time, {span}: up to {peak}, limit {limit}.', '{n} short times, {span} together: up to {peak}, limit {limit}.', v);
  }
  if (e.to) return e.low ? tr('for {span}: down to {peak}, limit {limit}.', v) : tr('for {span}: up to {peak}, limit {limit}.', v);
  return e.low ? tr('for {span} so far: down to {peak}, limit {limit}.', v) : tr('for {span} so far: up to {peak}, limit {limit}.', v);
}

/** foundLate says that an excursion is not what was known when it happened. */
export function foundLate(at: string, zone: string): string {
  return tr('Found or corrected afterwards, {when}.', { when: show.dateTime(Date.parse(at), zone) });
}
