// The formats with the signed-in person's units and the present moment filled in.
// Every page has it, so it leaves out measure.ts, which the first page can do without.
import { clock } from '../live/clock.svelte';
import { session } from '../session.svelte';
import { reader } from './reader.svelte';
import * as f from './format';
import { tr } from './tr';

class Show {
  get units(): f.Units {
    return reader.units;
  }
  get degree(): string {
    return f.degree(this.units);
  }
  temperature = (c: number | null | undefined, digits?: number) => f.temperature(c, this.units, digits);
  limit = (c: number) => f.limit(c, this.units);
  band = (min: number | null, max: number | null) => f.band(min, max, this.units);
  difference = (kelvin: number, digits?: number) => f.difference(kelvin, this.units, digits);
  ago = (at: number) => f.ago(at, clock.now);
  since = (at: number) => f.duration(clock.now - at);
  dateTime = (at: number, zone = session.timezone) => f.dateTime(at, zone, clock.now);
  /** asOf is a sentence about the present that was true at a moment; 0 is now. */
  asOf = (at: number, sentence: string) => (at ? tr('As of {time}: {sentence}', { time: this.moment(at), sentence }) : sentence);
  /** moment is the time of a moment of the last hours, with its day of an earlier one. */
  moment = (at: number, zone = session.timezone) => (clock.now - at < 12 * 3_600_000 ? f.clockTime(at, zone) : f.dateTime(at, zone, clock.now));
  exact = (at: number, zone = session.timezone) => f.exact(at, zone);
}

/** show is what pages use; see format.ts for what each function writes. */
export const show = new Show();
