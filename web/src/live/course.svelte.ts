// What a unit's zone does while no alert is raised and what is wrong with its clock, in words: for a card, a row, a tile of the wall.
import { session } from '../session.svelte';
import { clockNote } from '../words/clock';
import { wordOf } from '../words/condition';
import { zoneNote } from '../words/zone';
import { clock } from './clock.svelte';
import { beyond, stale, type Unit } from './unit.svelte';
import { stream } from './stream.svelte';
import { oddTimes, restless, zoneOf, zoneWord } from './zone';

/** courseOf asks for it once a minute while there is something to say; it is for the initialisation of a component. */
export function courseOf(unit: () => Unit) {
  const s = $derived(unit().now);
  const serial = $derived(s.device.serial);
  const old = $derived(stale(s) || stream.lost);
  // The minute while it is worth asking, null while it is not.
  const ask = $derived((restless(s) && !old) || (oddTimes(s) && !stream.lost) ? Math.floor(clock.now / 60_000) : null);
  let course = $state.raw<Awaited<ReturnType<typeof zoneOf>> | null>(null);
  $effect(() => {
    if (ask === null) {
      course = null;
      return;
    }
    const stop = new AbortController();
    zoneOf(serial, stop.signal).then((d) => (course = d), () => {});
    return () => stop.abort();
  });
  const held = $derived(zoneNote({ state: course?.zone ?? null, low: beyond(s) === 'low', timezone: s.device.site?.timezone ?? session.timezone }, clock.now));
  const note = $derived(held || clockNote(course?.clock ?? null));
  const neutral = $derived(s.condition === 'ok' && held !== '');
  const word = $derived(neutral ? zoneWord(s, course?.zone.defrosting ?? false) : wordOf(s));
  return {
    /** "defrosting, back by 14:20", "clock 2 h behind", '' when there is nothing to say. */
    get note() { return note; },
    /** Its state in one word, or two. */
    get word() { return word; },
    /** What is shown of it is not of now. */
    get old() { return old; },
    /** Neither alerted nor simply well. */
    get neutral() { return neutral; },
  };
}
