// A form that is sent: busy meanwhile, and what the server finds wrong with
// which field comes back to the field.
import { Failure } from '../api/client';
import { clock } from '../live/clock.svelte';
import { undo } from '../live/undo.svelte';
import { humanised } from '../words/format';
import { sentence } from '../words/sentence';
import { toasts } from './toasts.svelte';

/** whole is the field that a part belongs to: `steps[1].channel_ids` is of `steps`. */
const whole = (name: string) => name.split(/[.[]/, 1)[0]!;

export class Form {
  busy = $state(false);
  error = $state('');
  fields = $state.raw<Record<string, string[]>>({});
  /** When what is sent was sent first, ms: the same while no answer came, so that who presses again asks for the same. */
  since = 0;
  private readonly placed = new Set<string>();

  /** send runs the call once at a time; it reports whether it worked, and says `done` then. */
  async send(call: () => Promise<unknown>, done?: string): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    const since = (this.since ||= clock.exact());
    this.clear();
    this.since = since;
    try {
      const asked = undo.asked;
      await call();
      this.since = 0;
      if (done && asked === undo.asked) toasts.say(done); // what waits is not done yet
      return true;
    } catch (e) {
      if (e instanceof Failure) this.fields = e.fields;
      if (!(e instanceof Failure) || (e.status && e.status < 502)) this.since = 0; // as the client forgets its key
      this.error = (e as Error).message;
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** of returns what is wrong with a field, for the place where it is shown. */
  of(field: string): string[] | undefined {
    this.placed.add(field);
    return this.fields[field];
  }

  /** under returns what is wrong with the parts of a field, such as steps[1].channel_ids. */
  under(field: string): [string, string[]][] {
    this.placed.add(field);
    return Object.entries(this.fields).filter(([name]) => whole(name) === field);
  }

  /** left is what no field shows: the error itself, or the fields that the form has no place for. */
  get left(): string {
    const fields = Object.entries(this.fields);
    if (!fields.length) return this.error;
    return fields
      .filter(([name]) => !this.placed.has(name) && !this.placed.has(whole(name)))
      .map(([name, wrong]) => sentence(`${humanised(name)} ${wrong.join(', ')}`))
      .join(' ');
  }

  clear() {
    this.error = '';
    this.fields = {};
    this.since = 0;
  }
}
