// What people read instead of the API's words about alerts.
import type { Alert, Schemas } from '../api/client';
import { humanised, percent as share } from './format';
import { types } from './types';
import { plural, tr } from './tr';

/** alertTypes are those that people choose from; the set is open. */
export const alertTypes = Object.keys(types);

/** typeName names a type of alert: "Too warm". */
export function typeName(type: string): string {
  return types[type] ?? humanised(type);
}

const feedback: Record<string, string> = { useful: tr('It is right'), fixed: tr('Repaired'), false_alarm: tr('False alarm'), normal: tr('This is normal now') };

/** verdictName is the button that a person pressed. */
export function verdictName(verdict: string): string {
  return feedback[verdict] ?? humanised(verdict);
}

/** hours: "36 hours", "6 days". */
export function hours(h: number): string {
  return h < 48 ? plural(Math.max(1, Math.round(h)), '{n} hour', '{n} hours') : plural(Math.round(h / 24), '{n} day', '{n} days');
}

/** risk: "67 % risk of failure within 8 days, most likely in about 6 days", the number on the line of its sign. */
export const risk = (p: Schemas['Prediction']): string => spelled(p).replace(' %', '\u00a0%');

function spelled(p: Schemas['Prediction']): string {
  const percent = share(100 * p.risk);
  const within = hours(p.horizon_h);
  if (p.lead_time_h == null || (p.lead_time_h <= 1 && p.lead_high_h != null)) return tr('{percent} % risk of failure within {within}', { percent, within });
  if (p.lead_time_h <= 1) return tr('{percent} % risk of failure at any time', { percent });
  if (p.lead_high_h == null) return tr('{percent} % risk of failure, most likely in about {lead}', { percent, lead: hours(p.lead_time_h) });
  const lead = p.horizon_h >= 48 && p.lead_time_h >= 48 ? Math.round(p.lead_time_h / 24) : hours(p.lead_time_h);
  return tr('{percent} % risk of failure within {within}, most likely in about {lead}', { percent, within, lead });
}

/** parts divides an alert's message into what is wrong and what to do about it. */
export function parts(a: Pick<Alert, 'message' | 'advice'>): { what: string; advice: string } {
  return { what: a.message.slice(0, a.message.length - a.advice.length).trim(), advice: a.advice };
}
