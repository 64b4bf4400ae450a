// A form that is sent: busy meanwhile, and what the server finds wrong with
// which field comes back to the field.
import { Failure } from '../api/client';
import { toasts } from './toasts.svelte';

export class Form {
  busy = $state(false);
  error = $state('');
  fields = $state.raw<Record<string, string[]>>({});

  /** send runs the call once at a time; it tells whether it worked, and says `done` then. */
  async send(call: () => Promise<unknown>, done?: string): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.clear();
    try {
      await call();
      if (done) toasts.say(done);
      return true;
    } catch (e) {
      if (e instanceof Failure) this.fields = e.fields;
      this.error = (e as Error).message;
      return false;
    } finally {
      this.busy = false;
    }
  }

  clear() {
    this.error = '';
    this.fields = {};
  }
}
