// Numbers and times as people read them: units, zone and now are arguments; the
// language is the page's, the clock and the order of dates are the reader's.
import { reader } from './reader.svelte';
import { language, languages, tr } from './tr';

export type Units = 'c' | 'f';
type Dates = 'dmy' | 'mdy' | 'ymd';

export const minus = '\u2212'; // as wide as a plus, so columns stay
const thin = '\u202f';

// Whoever reads °F reads numbers as in the United States, in Spanish too.
function decimal(): string {
  return reader.units === 'f' ? '.' : (languages.find((l) => l.tag === language)?.decimal ?? '.');
}

/** number writes a value with fixed digits and a true minus sign. */
export function number(v: number, digits = 0): string {
  const s = Math.abs(v).toFixed(digits).replace('.', decimal());
  return v < 0 && /[1-9]/.test(s) ? minus + s : s;
}

/** percent is a share of 0–100, rounded, but never up to 100 nor down to 0: all and nothing are said only where they are so. */
export function percent(v: number, digits = 0): string {
  const step = 10 ** -digits;
  const s = Number(v.toFixed(digits));
  return number(v < 100 && s >= 100 ? 100 - step : v > 0 && s <= 0 ? step : s, digits);
}

export function toUnits(celsius: number, units: Units): number {
  return units === 'f' ? celsius * 1.8 + 32 : celsius;
}

/** difference is a difference between temperatures: "8.0 °C", "14.4 °F". */
export function difference(kelvin: number, units: Units, digits = 1): string {
  return number(units === 'f' ? kelvin * 1.8 : kelvin, digits) + thin + degree(units);
}

export function degree(units: Units): string {
  return units === 'f' ? '°F' : '°C';
}

/** temperature: "−18.4 °C". */
export function temperature(celsius: number | null | undefined, units: Units, digits = 1): string {
  if (celsius == null) return '–';
  return number(toUnits(celsius, units), digits) + thin + degree(units);
}

/** limit is a temperature without a needless ".0". */
export function limit(celsius: number, units: Units): string {
  return trimmed(toUnits(celsius, units)) + thin + degree(units);
}

/** trimmed writes a value to a tenth, without a needless ".0". */
export function trimmed(v: number): string {
  const tenths = Math.round(v * 10) / 10;
  return number(tenths, Number.isInteger(tenths) ? 0 : 1);
}

/** band: "−30 to −15 °C", "at most 5 °C", or nothing without limits. */
export function band(min: number | null, max: number | null, units: Units): string {
  if (min != null && max != null) return tr('{from} to {to}', { from: limit(min, units).replace(thin + degree(units), ''), to: limit(max, units) });
  if (max != null) return tr('at most {limit}', { limit: limit(max, units) });
  if (min != null) return tr('at least {limit}', { limit: limit(min, units) });
  return '';
}

const minute = 60_000;
const hour = 60 * minute;
const wholeDay = 24 * hour;

/** duration: "34 s", "12 min", "3 h 20 min", "2 d 4 h", all of it on one line. */
export function duration(ms: number): string {
  if (ms < 0) ms = 0;
  if (ms < minute) return `${Math.floor(ms / 1000)}\u00a0s`;
  if (ms < hour) return `${Math.floor(ms / minute)}\u00a0min`;
  if (ms < wholeDay) {
    const m = Math.floor((ms % hour) / minute);
    return `${Math.floor(ms / hour)}\u00a0h${m ? `\u00a0${m}\u00a0min` : ''}`;
  }
  const h = Math.floor((ms % wholeDay) / hour);
  const d = Math.floor(ms / wholeDay);
  return `${d}\u00a0d${h && d < 10 ? `\u00a0${h}\u00a0h` : ''}`;
}

/** ago: "just now", "34 s ago", "2 h 5 min ago", "in 3 d". */
export function ago(at: number, now: number): string {
  const gone = now - at;
  if (gone < -minute) return tr('in {span}', { span: duration(-gone) });
  if (gone < 5000) return tr('just now');
  return tr('{span} ago', { span: duration(gone) });
}

// The tag by which the browser writes dates.
const tag = () => (language !== 'en' ? language : reader.dates === 'mdy' || reader.clock === '12h' ? 'en-US' : 'en-GB');

const formats = new Map<string, Intl.DateTimeFormat>();

/** formatter writes the parts of dates that are asked for, in the page's language. */
export function formatter(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = tag() + zone + JSON.stringify(options);
  let f = formats.get(key);
  if (!f) {
    try {
      f = new Intl.DateTimeFormat(tag(), { ...options, timeZone: zone });
    } catch {
      f = new Intl.DateTimeFormat(tag(), { ...options, timeZone: 'UTC' });
    }
    formats.set(key, f);
  }
  return f;
}

const hours = (): Intl.DateTimeFormatOptions => (reader.clock === '12h' ? { hour: 'numeric', minute: '2-digit', hourCycle: 'h12' } : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** clockTime: "19:47", "7:47 PM". */
export function clockTime(at: number, zone: string): string {
  return formatter(zone, hours()).format(at);
}

/** date: "20 Nov", "Nov 20", "11-20", with the year when it is not this one. */
export function date(at: number, zone: string, now: number): string {
  const year = formatter(zone, { year: 'numeric' });
  return day(at, zone, year.format(at) === year.format(now));
}

/** ordered is the last day of a year as those see it who have its parts in an order. */
export function ordered(order: Dates): string {
  return day(Date.UTC(new Date().getFullYear(), 11, 31), 'UTC', false, order);
}

// A day in the order in which a reader has its parts.
function day(at: number, zone: string, yearless: boolean, order: Dates = reader.dates): string {
  const options: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', ...(yearless ? {} : { year: 'numeric' }) };
  if (order === 'dmy') return formatter(zone, options).format(at);
  if (order === 'ymd') return localTime(at, zone).slice(yearless ? 5 : 0, 10);
  const p = Object.fromEntries(formatter(zone, options).formatToParts(at).map((x) => [x.type, x.value]));
  return `${p.month} ${p.day}${yearless ? '' : `, ${p.year}`}`;
}

/** dateTime: "20 Nov, 19:47". */
export function dateTime(at: number, zone: string, now: number): string {
  return `${date(at, zone, now)}, ${clockTime(at, zone)}`;
}

/** exact is for hovering: "Fri, 20 Nov 2026, 19:47:12 (Europe/Berlin)". */
export function exact(at: number, zone: string): string {
  const name = formatter(zone, { weekday: 'short' }).format(at);
  return `${name}, ${day(at, zone, false)}, ${formatter(zone, { ...hours(), second: '2-digit' }).format(at)} (${zone})`;
}

/** localTime is a moment as an input of kind datetime-local takes it: "2026-11-20T19:47". */
export function localTime(at: number, zone: string): string {
  const p = Object.fromEntries(new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).formatToParts(at).map((x) => [x.type, x.value]));
  return `${p.year}-${p.month}-${p.day}T${p.hour}:${p.minute}`;
}

/** localDay is the day of a moment in a zone, as programs write it: "2026-11-20". */
export function localDay(at: number, zone: string): string {
  return localTime(at, zone).slice(0, 10);
}

export { grouped } from './tr';

/** humanised turns a slug into words: `walkin_freezer` → "Walkin freezer". */
export function humanised(slug: string): string {
  const s = slug.replaceAll('_', ' ').trim();
  return s.charAt(0).toUpperCase() + s.slice(1);
}
