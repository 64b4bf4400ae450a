// Days of shifts and gaps of rotas, in words.
import type { Schemas } from '../api/client';
import { formatter } from './format';
import { plural, tr } from './tr';

export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

const order: Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
// 2024 began on a Monday.
const named = (i: number) => formatter('UTC', { weekday: 'short' }).format(Date.UTC(2024, 0, 1 + i));

/** weekdays are the days' short names in the page's language. */
export const weekdays = Object.fromEntries(order.map((d, i) => [d, named(i)])) as Record<Weekday, string>;

/** daysWords: "Mon–Fri", "Sat, Sun", "Daily". */
export function daysWords(days: Weekday[]): string {
  const on = order.map((d) => days.includes(d));
  if (on.every(Boolean)) return tr('Daily');
  const runs: string[] = [];
  for (let i = 0; i < 7; i++) {
    if (!on[i]) continue;
    let j = i;
    while (j < 6 && on[j + 1]) j++;
    runs.push(j - i > 1 ? `${weekdays[order[i]!]}–${weekdays[order[j]!]}` : order.slice(i, j + 1).map((d) => weekdays[d]).join(', '));
    i = j;
  }
  return runs.join(', ');
}

/** gapWords: "Nobody is on duty Sun 02:00 – Sun 06:00 and 2 more times within a week." */
export function gapWords(gaps: Schemas['DutyGap'][], zone: string): string {
  const at = (t: string) => `${formatter(zone, { weekday: 'short' }).format(Date.parse(t))} ${formatter(zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(Date.parse(t))}`;
  const said = gaps.slice(0, 2).map((g) => `${at(g.from)} – ${at(g.to)}`).join(', ');
  const more = gaps.length - 2;
  return more > 0 ? plural(more, 'Nobody is on duty {said} and once more within a week.', 'Nobody is on duty {said} and {n} more times within a week.', { said }).replace('{said}', said) : tr('Nobody is on duty {said}.', { said });
}
