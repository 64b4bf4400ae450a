// What a phone sends as a sensor, and what is said of the answer. Pure.
import { number } from '../../words/format';
import { tr } from '../../words/tr';

/** Outcome is what became of it, as far as it is said. */
export interface Outcome {
  accepted: number;
  duplicates: number;
  held: number;
  unreadable: number;
  left_out: { reason: string }[];
}

/** ownId names this browser, the same each time where it may remember. */
export function ownId(memory: Pick<Storage, 'getItem' | 'setItem'>): string {
  const fresh = `phone-${Array.from(crypto.getRandomValues(new Uint8Array(3)), (b) => b.toString(16).padStart(2, '0')).join('')}`;
  try {
    const known = memory.getItem('sender');
    if (known) return known;
    memory.setItem('sender', fresh);
  } catch {
    // a browser that keeps nothing: another name next time
  }
  return fresh;
}

// People write a comma and a minus sign of their own.
const plain = (temperature: string) => temperature.trim().replace(',', '.').replace('−', '-');

/** mistaken says why what was typed is no temperature that can be stored, '' where it is one. */
export function mistaken(temperature: string, unit: string): string {
  const text = plain(temperature);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return tr('Type a number, such as −18.5');
  const [least, most] = unit === '°F' ? [-148, 392] : [-100, 200];
  return Number(text) < least || Number(text) > most ? tr('No thermometer shows this: type a number between {least} and {most}', { least: number(least), most: number(most) }) : '';
}

/** payload is what is sent. */
export const payload = (id: string, temperature: string, unit: string, battery: number | null) =>
  JSON.stringify({ id, temperature: plain(temperature), unit, ...(battery == null ? {} : { battery }) });

/** said is what a person reads; a status of 0 = there was no answer. */
export function said(status: number, o?: Outcome): string {
  if (status === 401) return tr('This link does not work. Ask for a new one under Connect a device.');
  if (!o) return status === 0 ? tr('The server cannot be reached.') : tr('The server did not take it ({status}).', { status });
  if (o.accepted + o.duplicates > 0 && !o.left_out.length) return tr('Stored.');
  if (o.unreadable > 0) return tr('It was not stored: no temperature can be read from it.');
  if (o.held > 0) return tr('It arrived. Accept this phone under Connect a device, and it is stored.');
  return tr('It was not stored: {reason}.', { reason: o.left_out[0]?.reason ?? '' });
}
