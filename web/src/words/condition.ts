// What a device's condition is called, and how bad it is.
import type { Alert, Device } from '../api/client';
import { tr } from './tr';

export type Condition = 'critical' | 'warning' | 'predicted' | 'offline' | 'unjudged' | 'ok';

interface Words {
  word: string;
  icon: Condition;
  /** 0 is worst. */
  rank: number;
}

export const conditions: Record<Condition, Words> = {
  critical: { word: tr('Critical'), icon: 'critical', rank: 0 },
  warning: { word: tr('Warning'), icon: 'warning', rank: 1 },
  predicted: { word: tr('Predicted'), icon: 'predicted', rank: 2 },
  offline: { word: tr('Offline'), icon: 'offline', rank: 3 },
  // Nobody would be alerted if the goods got too warm: that is never fine.
  unjudged: { word: tr('Not judged'), icon: 'unjudged', rank: 4 },
  ok: { word: tr('OK'), icon: 'ok', rank: 5 },
};

/** allConditions, the worst first. */
export const allConditions = Object.keys(conditions) as Condition[];

/** worse returns the worse of two conditions. */
export function worse(a: Condition, b: Condition): Condition {
  return conditions[a].rank <= conditions[b].rank ? a : b;
}

/** wordOf is the condition of a device in a word, or two. */
export function wordOf(s: { condition: Condition; lastSeenAt: number | null }): string {
  return s.condition === 'offline' && s.lastSeenAt == null ? tr('Never reported') : conditions[s.condition].word;
}

/** isPrediction tells alerts about what is going to happen from those about what is. */
export function isPrediction(a: Pick<Alert, 'type' | 'prediction'> & { metric?: string | null }): boolean {
  if (a.metric === 'door_reported_time') return false; // the device says so itself
  if (a.type === 'door_open_suspected') return false; // it is so now
  return a.prediction != null || a.type.endsWith('_predicted') || a.type.endsWith('_suspected');
}

/** conditionOfAlert is the colour an alert is shown in. */
export function conditionOfAlert(a: Pick<Alert, 'type' | 'severity' | 'prediction'> & { metric?: string | null }): Condition {
  // What is to come is no emergency yet, however grave: it has its own colour.
  if (isPrediction(a)) return 'predicted';
  if (a.severity === 'critical') return 'critical';
  if (a.type === 'device_offline' || a.type === 'site_offline') return 'offline';
  return 'warning';
}

/** conditionOf is the worst that is known of a device. */
export function conditionOf(d: Pick<Device, 'status' | 'judged'>, alerts: Alert[]): Condition {
  let c: Condition = d.status === 'offline' ? 'offline' : d.judged ? 'ok' : 'unjudged';
  // What another alert explains says nothing of its own.
  for (const a of alerts) if (a.suppressed_by == null) c = worse(c, conditionOfAlert(a));
  return c;
}

/** worstAlert is the alert that explains the condition: worst first, then oldest. */
export function worstAlert(alerts: Alert[]): Alert | undefined {
  return [...alerts].sort(
    (a, b) =>
      Number(a.suppressed_by != null) - Number(b.suppressed_by != null) ||
      conditions[conditionOfAlert(a)].rank - conditions[conditionOfAlert(b)].rank ||
      startOf(a) - startOf(b),
  )[0];
}

/** startOf is when what the alert is about began, in ms. */
export function startOf(a: Pick<Alert, 'condition_started_at' | 'triggered_at'>): number {
  return Date.parse(a.condition_started_at ?? a.triggered_at);
}
