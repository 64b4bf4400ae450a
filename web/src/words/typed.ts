// What people type: numbers, temperatures in their units, moments by their clocks.
import { localTime, minus, type Units } from './format';

/** typed is a number as somebody may type it, with a comma or a true minus sign. */
export function typed(text: string): number {
  return Number(text.trim().replace(',', '.').replace(minus, '-'));
}

/** aNumber is the pattern of what `typed` takes. */
export const aNumber = `\\s*[\\-+${minus}]?(\\d+([.,]\\d*)?|[.,]\\d+)\\s*`;

export function fromUnits(shown: number, units: Units): number {
  return units === 'f' ? (shown - 32) / 1.8 : shown;
}

/** moment is when the clocks of a zone show a local time, ms. */
export function moment(local: string, zone: string): number {
  const wanted = Date.parse(local + 'Z');
  // The offset is looked up twice: the first guess may lie across a change of clocks.
  let at = wanted;
  for (let i = 0; i < 2; i++) at += wanted - Date.parse(localTime(at, zone) + 'Z');
  return at;
}
