// Who was told of an alert, and who is told next, in one sentence.
import type { Schemas } from '../api/client';
import { clockTime, date, duration } from './format';
import { language, tr } from './tr';

type Escalation = Schemas['Escalation'];

const named = (list: { name: string }[]) =>
  list.length > 3 ? tr('{list} and {n} more', { list: list.slice(0, 2).map((r) => r.name).join(', '), n: list.length - 2 }) : new Intl.ListFormat(language).format(list.map((r) => r.name));

/** toldWords: "Ben was told at 08:31, Mara at 08:46." Of those who were told in the same minute one time is said. */
export function toldWords(e: Escalation, zone: string, now: number): string {
  const moments: { at: string; who: { name: string }[] }[] = [];
  for (const t of e.told) {
    const ms = Date.parse(t.at);
    const day = date(ms, zone, now);
    const at = day === date(now, zone, now) ? clockTime(ms, zone) : `${day}, ${clockTime(ms, zone)}`;
    const last = moments.at(-1);
    if (last?.at === at) last.who.push(t);
    else moments.push({ at, who: [t] });
  }
  const [first, ...later] = moments;
  if (!first) return '';
  const head = first.who.length === 1 ? tr('{who} was told at {time}', { who: named(first.who), time: first.at }) : tr('{who} were told at {time}', { who: named(first.who), time: first.at });
  const shown = later.length > 3 ? [later[0]!, later.at(-1)!] : later;
  return [head, ...shown.map((m) => tr('{who} at {time}', { who: named(m.who), time: m.at }))].join(', ') + '.';
}

/** nextWords: "In 12 min Mara is told." Where nobody is, it says so; '' while somebody was told and nobody follows. */
export function nextWords(e: Escalation, now: number): string {
  if (e.next_at) {
    const wait = Date.parse(e.next_at) - now;
    const who = named(e.next);
    if (wait < 60_000) return e.next.length === 1 ? tr('{who} is told within a minute.', { who }) : tr('{who} are told within a minute.', { who });
    return e.next.length === 1 ? tr('In {span} {who} is told.', { span: duration(wait), who }) : tr('In {span} {who} are told.', { span: duration(wait), who });
  }
  return e.told.length ? '' : tr('Nobody has been told.');
}
