// One device as it is shown, and which of two stands first.
import type { Alert, Device, Latest, Limits } from '../api/client';
import { conditionOf, conditions, startOf, type Condition } from '../words/condition';
import { natural } from '../words/tr';
import { clock } from './clock.svelte';

/** Snapshot is what is known of a device at one moment; it is never changed. */
export interface Snapshot {
  device: Device;
  latest: Partial<Latest> | null;
  alerts: Alert[];
  /** What was resolved within the last day or so; with alerts, a day's history. */
  past: Alert[];
  condition: Condition;
  temp: number | null;
  /** When temp was measured, in ms. */
  tempAt: number | null;
  lastSeenAt: number | null;
}

/** Unit is one device on the screen. */
export class Unit {
  now: Snapshot = $state.raw(null!);
  next: Snapshot;
  readonly id: number;

  constructor(device: Device) {
    this.id = device.id;
    this.next = this.now = snapshot(device, null, [], []);
  }
}

function ms(t: string | null | undefined): number | null {
  return t ? Date.parse(t) : null;
}

export function snapshot(device: Device, latest: Partial<Latest> | null, alerts: Alert[], past: Alert[]): Snapshot {
  const lastSeenAt = ms(device.last_seen_at);
  return {
    device,
    latest,
    alerts,
    past,
    condition: conditionOf(device, alerts),
    temp: device.current_temp,
    tempAt: ms(device.current_temp_at),
    lastSeenAt,
  };
}

/** limited reports whether there is a bound at all. */
export function limited(l: Pick<Limits, 'temp_min' | 'temp_max' | 'critical_min' | 'critical_max'>): boolean {
  return [l.temp_min, l.temp_max, l.critical_min, l.critical_max].some((v) => v != null);
}

export function worstFirst(a: Unit, b: Unit): number {
  const x = a.next;
  const y = b.next;
  return (
    rank(x) - rank(y) ||
    since(x) - since(y) ||
    natural.compare(x.device.name, y.device.name) ||
    a.id - b.id
  );
}

/** beyond reports whether the newest temperature is out of its limits, and on which side. */
export function beyond(s: Snapshot): 'low' | 'high' | null {
  const { temp_min: min, temp_max: max } = s.device.limits;
  if (s.temp == null) return null;
  return max != null && s.temp > max ? 'high' : min != null && s.temp < min ? 'low' : null;
}

/** pending reports whether a device is out of its limits and nothing is alerted for yet. */
export const pending = (s: Snapshot): boolean => s.condition === 'ok' && beyond(s) !== null;

// A device that has never reported has no goods to lose yet: it stands below those
// that report and are not judged. One that is out of its limits stands before those that are well.
function rank(s: Snapshot): number {
  if (pending(s)) return conditions.ok.rank - 0.25;
  return conditions[s.condition].rank + (s.condition === 'offline' && s.lastSeenAt == null ? conditions.unjudged.rank - conditions.offline.rank + 0.5 : 0);
}

// The longest trouble stands first.
function since(s: Snapshot): number {
  if (s.condition === 'ok') return 0;
  if (s.alerts.length) return Math.min(...s.alerts.map(startOf));
  return s.lastSeenAt ?? Infinity;
}

/** seenAt is the age of what is shown of a device: of its temperature, where it has one, else when it was last seen. */
export function seenAt(s: Pick<Snapshot, 'temp' | 'tempAt' | 'lastSeenAt'>): number | null {
  return s.temp != null && s.tempAt != null ? s.tempAt : s.lastSeenAt;
}

/** stale reports whether a device's value is too old to be taken for the present one. */
export function stale(s: Snapshot): boolean {
  return s.device.status === 'offline' || (s.tempAt != null && clock.now - s.tempAt > 10 * 60_000);
}
