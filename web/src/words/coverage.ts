// What is said while nobody would be told of an alert, and what holds messages back: loaded when that is so.
import type { Coverage, Hold } from '../api/client';
import { person } from './actor';
import { plural, tr } from './tr';

/** withCoverage adds to a sentence about the fleet that nobody would be told. */
export function withCoverage(text: string, c: Coverage | null): string {
  if (!c || c.reachable) return text;
  const rest = c.anywhere
    ? plural(c.count, ', and nobody would be told of {n} site.', ', and nobody would be told of {n} sites.')
    : c.reason === 'untested'
      ? tr(', and no channel has been tested.')
      : tr(', and nobody would be told.');
  return text.replace(/\.$/, '') + rest;
}

/** whyUncovered is why nobody would be told, and what to do. Of a reason that is not known yet it says the fact alone. */
export function whyUncovered(c: Coverage): string {
  switch (c.reason) {
    case 'no_channel':
      return tr('Nobody would be told of an alert: there is no way to notify anybody yet.');
    case 'off':
      return tr('Nobody would be told of an alert: every channel is switched off.');
    case 'failing':
      return tr('Nobody would be told of an alert: the last messages did not arrive.');
    case 'untested':
      return tr('No channel has been tested. Send a test to see whether alerts arrive.');
    case 'no_route':
      return tr('Nobody would be told of an alert: no route matches it, and no channel is known to work.');
    default:
      return tr('Nobody would be told of an alert.');
  }
}

/** placesWithout names the sites where nobody would be told: "Harbour, Old Town and 3 more". */
export function placesWithout(c: Coverage): string {
  const names = c.sites_without.slice(0, 3).map((s) => s.name || tr('Devices without a site'));
  const more = c.count - names.length;
  return more > 0 ? tr('{list} and {n} more', { list: names.join(', '), n: more }) : names.join(', ');
}

/** holdWords is what holds messages back, until when, why and by whose hand; what it is about is '' for everything. */
export function holdWords(h: Pick<Hold, 'comment' | 'created_by'>, about: string, until: string): string {
  const head = about ? tr('Nobody is told of {what} until {time}', { what: about, time: until }) : tr('Nobody is told until {time}', { time: until });
  const by = person(h.created_by);
  return head + (h.comment && `: ${h.comment}`) + (by && ` (${by})`);
}
