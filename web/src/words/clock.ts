// What is wrong with the clock of a device.
import type { Schemas } from '../api/client';
import { duration } from './format';
import { tr } from './tr';

type Clock = Schemas['ClockState'];

/** clockNote: "clock 2 h behind", '' of a clock of which nothing bad is known. */
export function clockNote(c: Clock | null): string {
  if (!c) return '';
  if (c.several) return tr('two senders with different clocks');
  return c.offset_s < 0 ? tr('clock {span} behind', { span: duration(-c.offset_s * 1000) }) : tr('clock {span} ahead', { span: duration(c.offset_s * 1000) });
}
