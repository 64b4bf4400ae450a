// How people read where a browser is at home: what is set for somebody new, until they choose.
import type { Schemas } from '../api/client';

type Habits = Required<Pick<Schemas['MeBody'], 'units' | 'clock' | 'dates'>>;

/** Where temperatures are in °F. */
const fahrenheit = ['US', 'BS', 'BZ', 'KY', 'LR', 'PW', 'FM', 'MH', 'PR', 'GU', 'VI', 'AS', 'MP'];

export function habits(language: string): Habits {
  const place = new Intl.Locale(language).maximize().region ?? '';
  const { hourCycle } = new Intl.DateTimeFormat(language, { hour: 'numeric' }).resolvedOptions();
  const order = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'numeric', year: 'numeric', calendar: 'gregory' })
    .formatToParts(0)
    .map((p) => p.type[0])
    .filter((t) => 'dmy'.includes(t!))
    .join('');
  return {
    units: fahrenheit.includes(place) ? 'f' : 'c',
    clock: hourCycle === 'h11' || hourCycle === 'h12' ? '12h' : '24h',
    dates: order === 'mdy' || order === 'ymd' ? order : 'dmy',
  };
}
