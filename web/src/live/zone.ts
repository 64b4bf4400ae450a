// What the zone of a device does, asked for where it shows that there is something
// to say: outside its limits without an alert, or defrosting.
import { api, ask } from '../api/client';
import type { ZoneState } from '../words/zone';
import type { Snapshot } from './fleet.svelte';

/** beyond reports whether the newest temperature is out of its limits, and on which side. */
export function beyond(s: Snapshot): 'low' | 'high' | null {
  const { temp_min: min, temp_max: max } = s.device.limits;
  if (s.temp == null) return null;
  return max != null && s.temp > max ? 'high' : min != null && s.temp < min ? 'low' : null;
}

/** restless reports whether the zone's state is worth asking for. */
export function restless(s: Snapshot): boolean {
  if (s.device.status === 'offline' || s.alerts.some((a) => a.type === 'high_temperature' || a.type === 'low_temperature')) return false;
  return beyond(s) !== null || s.latest?.defrost_active === true;
}

export async function zoneOf(serial: string, signal?: AbortSignal): Promise<ZoneState> {
  return (await ask(api.GET('/v1/devices/{serial}', { params: { path: { serial } }, signal }))).device.zone;
}
