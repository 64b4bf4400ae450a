// What the zone of a device does and what is wrong with its clock, asked for where it shows that
// there is something to say: outside its limits without an alert, defrosting, or readings at odd times.
import { api, ask, type Schemas } from '../api/client';
import { tr } from '../words/tr';
import { beyond, type Snapshot } from './unit.svelte';

/** restless reports whether the zone's state is worth asking for. */
export function restless(s: Snapshot): boolean {
  if (s.device.status === 'offline') return false;
  // An alert whose value is back inside: since when, and until when.
  if (s.alerts.some((a) => a.type === 'high_temperature' || a.type === 'low_temperature')) return beyond(s) === null && s.temp != null;
  return beyond(s) !== null || s.latest?.defrost_active === true;
}

/** zoneWord is what its zone does, in one word or two, while no alert is raised. */
export const zoneWord = (s: Snapshot, defrosting: boolean) => (defrosting ? tr('Defrosting') : beyond(s) === 'low' ? tr('Below limit') : tr('Above limit'));

const usualDelay = 5 * 60_000; // ms: gateways send in batches

/** oddTimes reports whether the newest reading came before its own time, or long after: its clock may be wrong, which the server knows. */
export function oddTimes({ latest: l }: Snapshot): boolean {
  const lag = Date.parse(l?.received_at ?? '') - Date.parse(l?.recorded_at ?? '');
  return lag > usualDelay || lag <= -60_000;
}

export async function zoneOf(serial: string, signal?: AbortSignal): Promise<Pick<Schemas['DeviceDetail'], 'zone' | 'clock'>> {
  return (await ask(api.GET('/v1/devices/{serial}', { params: { path: { serial } }, signal }))).device;
}
