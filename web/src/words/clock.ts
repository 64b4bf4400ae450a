// What is wrong with the clock of a device.
import type { Schemas } from '../api/client';
import { duration } from './format';
import { tr } from './tr';

type Clock = Schemas['ClockState'];

/** clockNote: "clock 2 h wrong", '' of a clock of which nothing bad is known. */
export const clockNote = (c: Clock | null): string => (c ? tr('clock {span} wrong', { span: duration(Math.abs(c.offset_s) * 1000) }) : '');
