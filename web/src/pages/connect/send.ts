// What a phone sends as a sensor, and what is said of the answer. Pure.
import { tr } from '../../words/tr';

/** Outcome is what became of it, as far as it is said. */
export interface Outcome {
  accepted: number;
  duplicates: number;
  held: number;
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

/** payload is what is sent. People write a comma and a minus sign of their own. */
export const payload = (id: string, temperature: string, unit: string, battery: number | null) =>
  JSON.stringify({ id, temperature: temperature.trim().replace(',', '.').replace('−', '-'), unit, ...(battery == null ? {} : { battery }) });

/** said is what a person reads; a status of 0 = there was no answer. */
export function said(status: number, o?: Outcome): string {
  if (status === 401) return tr('This link does not work. Ask for a new one under Connect a device.');
  if (!o) return status === 0 ? tr('The server cannot be reached.') : tr('The server did not take it ({status}).', { status });
  if (o.accepted + o.duplicates > 0 && !o.left_out.length) return tr('Stored.');
  if (o.held > 0) return tr('It arrived. Accept this phone under Connect a device, and it is stored.');
  return tr('It was not stored: {reason}.', { reason: o.left_out[0]?.reason ?? '' });
}
