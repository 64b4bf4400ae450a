// Numbers and times as people read them. Pure: units, zone and now are arguments.

export type Units = 'c' | 'f';

const minus = '\u2212'; // as wide as a plus, so columns stay
const thin = '\u202f';

/** number writes a value with fixed digits and a true minus sign. */
export function number(v: number, digits = 0): string {
  const s = Math.abs(v).toFixed(digits);
  return v < 0 && Number(s) !== 0 ? minus + s : s;
}

export function toUnits(celsius: number, units: Units): number {
  return units === 'f' ? celsius * 1.8 + 32 : celsius;
}

export function fromUnits(shown: number, units: Units): number {
  return units === 'f' ? (shown - 32) / 1.8 : shown;
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
  const v = Math.round(toUnits(celsius, units) * 10) / 10;
  return number(v, Number.isInteger(v) ? 0 : 1) + thin + degree(units);
}

/** band: "−30 to −15 °C", "at most 5 °C", or nothing without limits. */
export function band(min: number | null, max: number | null, units: Units): string {
  if (min != null && max != null) return `${limit(min, units).replace(thin + degree(units), '')} to ${limit(max, units)}`;
  if (max != null) return `at most ${limit(max, units)}`;
  if (min != null) return `at least ${limit(min, units)}`;
  return '';
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** duration: "34 s", "12 min", "3 h 20 min", "2 d 4 h". */
export function duration(ms: number): string {
  if (ms < 0) ms = 0;
  if (ms < minute) return `${Math.floor(ms / 1000)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < day) {
    const m = Math.floor((ms % hour) / minute);
    return `${Math.floor(ms / hour)} h${m ? ` ${m} min` : ''}`;
  }
  const h = Math.floor((ms % day) / hour);
  const d = Math.floor(ms / day);
  return `${d} d${h && d < 10 ? ` ${h} h` : ''}`;
}

/** ago: "just now", "34 s ago", "2 h 5 min ago", "in 3 d". */
export function ago(at: number, now: number): string {
  const gone = now - at;
  if (gone < -minute) return `in ${duration(-gone)}`;
  if (gone < 5000) return 'just now';
  return `${duration(gone)} ago`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatter(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options);
  let f = formats.get(key);
  if (!f) {
    try {
      f = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
    } catch {
      f = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
    }
    formats.set(key, f);
  }
  return f;
}

/** clockTime: "19:47". */
export function clockTime(at: number, zone: string): string {
  return formatter(zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
}

/** date: "20 Nov", with the year when it is not this one. */
export function date(at: number, zone: string, now: number): string {
  const year = formatter(zone, { year: 'numeric' });
  const sameYear = year.format(at) === year.format(now);
  return formatter(zone, { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) }).format(at);
}

/** dateTime: "20 Nov, 19:47". */
export function dateTime(at: number, zone: string, now: number): string {
  return `${date(at, zone, now)}, ${clockTime(at, zone)}`;
}

/** exact is for hovering: "Fri 20 Nov 2026, 19:47:12 (Europe/Berlin)". */
export function exact(at: number, zone: string): string {
  const f = formatter(zone, {
    weekday: 'short', day: 'numeric', month: 'short', year: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23',
  });
  return `${f.format(at)} (${zone})`;
}

/** localTime is a moment as an input of kind datetime-local takes it: "2026-11-20T19:47". */
export function localTime(at: number, zone: string): string {
  const p = Object.fromEntries(new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).formatToParts(at).map((x) => [x.type, x.value]));
  return `${p.year}-${p.month}-${p.day}T${p.hour}:${p.minute}`;
}

/** moment is when the clocks of a zone show a local time, ms. */
export function moment(local: string, zone: string): number {
  const guess = Date.parse(local + 'Z');
  return guess - (Date.parse(localTime(guess, zone) + 'Z') - guess);
}

/** count: "1 device", "12 devices", "10,000 devices". */
export function count(n: number, one: string, many = one + 's'): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

export function grouped(n: number): string {
  return n.toLocaleString('en-GB');
}

/** humanised turns a slug into words: `walkin_freezer` → "Walkin freezer". */
export function humanised(slug: string): string {
  const s = slug.replaceAll('_', ' ').trim();
  return s.charAt(0).toUpperCase() + s.slice(1);
}
