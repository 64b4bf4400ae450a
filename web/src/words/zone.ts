// What a product zone does while no alert is raised: a defrost, or a rise that
// has not lasted long enough.
import type { Schemas } from '../api/client';
import { clockTime, duration } from './format';
import { tr } from './tr';

export type ZoneState = Schemas['ZoneState'];

export interface Zone {
  state: ZoneState | null;
  low: boolean;
  /** Of the device's site. */
  timezone: string;
}

const minutes = (ms: number) => Math.round(ms / 60_000);

/** backNote: "back inside since 08:31, all clear at 08:41". */
export function backNote(back: string, clear: string | null, timezone: string, now: number): string {
  const since = clockTime(Date.parse(back), timezone);
  const over = clear ? Date.parse(clear) : 0;
  return over > now ? tr('back inside since {since}, all clear at {over}', { since, over: clockTime(over, timezone) }) : tr('back inside since {since}', { since });
}

/** zoneNote: "defrosting, back by 14:20", "above limit 12 min, alert at 60", '' when there is nothing to say. */
export function zoneNote({ state: z, low, timezone }: Zone, now: number): string {
  if (!z) return '';
  const since = z.out_of_limits_since ? Date.parse(z.out_of_limits_since) : null;
  const alertAt = z.alert_at ? Date.parse(z.alert_at) : null;
  const backBy = z.back_by ? Date.parse(z.back_by) : null;
  if (z.defrosting) {
    if (backBy == null) return tr('defrosting');
    if (backBy > now) return tr('defrosting, back by {time}', { time: clockTime(backBy, timezone) });
    return alertAt == null ? tr('back later than usual from a defrost') : tr('back later than usual from a defrost, alert at {time}', { time: clockTime(alertAt, timezone) });
  }
  if (since == null) return z.back_since ? backNote(z.back_since, z.clear_at, timezone, now) : '';
  const held = low ? tr('below limit {span}', { span: duration(now - since) }) : tr('above limit {span}', { span: duration(now - since) });
  if (alertAt == null) return held;
  if (alertAt <= now) return tr('{held}, alert with its next reading', { held }); // readings that came late alert nobody
  const gone = now - since;
  const after = minutes(alertAt - since);
  // After minutes stands a number; after seconds it would be taken for seconds.
  return gone < 3_600_000 && after <= 60 ? tr('{held}, alert at {after}', { held, after: gone < 60_000 ? duration(after * 60_000) : after }) : tr('{held}, alert at {time}', { held, time: clockTime(alertAt, timezone) });
}
