// Times as people write them into a field, in their own order and clock. A field
// holds them as programs do: "2026-11-20T19:47", or "19:47" of a time alone.
import { clockTime } from './format';
import { reader } from './reader.svelte';

const two = (n: number) => String(n).padStart(2, '0');

/** shown is a value as the reader writes it: "20/11/2026 19:47", "11/20/2026 7:47 PM", '' of none. */
export function shown(value: string): string {
  const [, date, time] = /^(?:(.+)T)?(\d\d:\d\d)/.exec(value) ?? [];
  if (!time) return '';
  const at = clockTime(Date.parse(`1970-01-01T${time}Z`), 'UTC').replace(/\s/g, ' ');
  if (!date) return at;
  const [y, m, d] = date.split('-');
  return { dmy: `${d}/${m}/${y}`, mdy: `${m}/${d}/${y}`, ymd: date }[reader.dates] + ` ${at}`;
}

/** read is the value that somebody has written, '' of what is no such time. */
export function read(text: string, timeOnly: boolean): string {
  const t = text.trim().replace(/\s+/g, ' ');
  const [, date = '', time = ''] = /^(\d+[/.-]\s?\d+[/.-]\s?\d+)[T,\s]+(.*)$/.exec(t) ?? [null, '', t];
  const at = timeOf(time);
  if (timeOnly) return date ? '' : at;
  const day = dayOf(date);
  return day && at && `${day}T${at}`;
}

function timeOf(text: string): string {
  const [, h, m = '00', half] = /^(\d{1,2})(?:[:.](\d{2}))?(?::\d{2})?\s?(?:([ap])\.?\s?m\.?)?$/i.exec(text) ?? [];
  if (!h) return '';
  if (half && !(Number(h) >= 1 && Number(h) <= 12)) return '';
  const hour = half ? (Number(h) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(h);
  return hour < 24 && Number(m) < 60 ? `${two(hour)}:${m}` : '';
}

function dayOf(text: string): string {
  const parts = text.split(/[/.-]/).map((p) => p.trim());
  // What begins with a year can be nothing else.
  const order = parts[0]?.length === 4 ? 'ymd' : reader.dates;
  const [y, m, d] = [...'ymd'].map((part) => parts[order.indexOf(part)] ?? '');
  if (y!.length !== 4 || !m || !d) return '';
  const at = Date.UTC(Number(y), Number(m) - 1, Number(d));
  const day = `${y}-${two(Number(m))}-${two(Number(d))}`;
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === day ? day : '';
}
