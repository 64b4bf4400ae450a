// What people read instead of the API's words about alerts.
import type { Alert, Schemas } from '../api/client';
import { count, humanised } from './format';
import { types } from './types';

/** alertTypes are those that people choose from; the set is open. */
export const alertTypes = Object.keys(types);

/** typeName names a type of alert: "Too warm". */
export function typeName(type: string): string {
  return types[type] ?? humanised(type);
}

const feedback: Record<string, string> = { useful: 'It is right', fixed: 'Repaired', false_alarm: 'False alarm' };

/** verdictName is the button that a person pressed. */
export function verdictName(verdict: string): string {
  return feedback[verdict] ?? humanised(verdict);
}

/** hours: "36 hours", "6 days". */
export function hours(h: number): string {
  return h < 48 ? count(Math.max(1, Math.round(h)), 'hour') : count(Math.round(h / 24), 'day');
}

/** risk: "67 % risk of failure within 8 days, most likely in about 6 days". */
export function risk(p: Schemas['Prediction']): string {
  const s = `${Math.round(p.risk * 100)} % risk of failure`;
  if (p.lead_time_h == null) return `${s} within ${hours(p.horizon_h)}`;
  const within = p.lead_high_h == null ? '' : ` within ${hours(p.horizon_h)}`;
  const both = within && p.horizon_h >= 48 && p.lead_time_h >= 48;
  return `${s}${within}, most likely in about ${both ? Math.round(p.lead_time_h / 24) : hours(p.lead_time_h)}`;
}

/** parts divides an alert's message into what is wrong and what to do about it. */
export function parts(a: Pick<Alert, 'message'>): { what: string; advice: string } {
  const all = a.message.split(/(?<=[.!?])\s+/);
  const from = all.findIndex((p) => /^(Check|Keep|Look|Move|Close|Clean|Call|Have|Make|Measure|Replace|Inspect|Find|Shut|Stop|Ventilate|Expect|Possible|Until then)\b/.test(p));
  return from < 0 ? { what: a.message, advice: '' } : { what: all.slice(0, from).join(' '), advice: all.slice(from).join(' ') };
}
