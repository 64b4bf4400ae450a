// A form that is sent: busy meanwhile, and what the server finds wrong with
// which field comes back to the field.
import { Failure } from '../api/client';

export class Form {
  busy = $state(false);
  error = $state('');
  fields = $state.raw<Record<string, string[]>>({});

  /** send runs the call once at a time; it tells whether it worked. */
  async send(call: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.error = '';
    this.fields = {};
    try {
      await call();
      return true;
    } catch (e) {
      if (e instanceof Failure) this.fields = e.fields;
      this.error = (e as Error).message;
      return false;
    } finally {
      this.busy = false;
    }
  }
}
