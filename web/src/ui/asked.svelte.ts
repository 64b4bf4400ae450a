import { untrack } from 'svelte';
import { undo } from '../live/undo.svelte';

// What a page asked the server for: on its way, here, or failed.
export class Asked<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<Error | null>(null);
  loading = $state(true);
  private turn = 0;

  constructor(private readonly ask: () => Promise<T>) {
    $effect(() => {
      void undo.settled;
      untrack(this.load);
    });
  }

  /** load asks again; what is shown stays until the answer is here. */
  load = async () => {
    const turn = ++this.turn;
    this.loading = true;
    try {
      const got = await this.ask();
      if (turn !== this.turn) return;
      this.value = got;
      this.error = null;
    } catch (e) {
      if (turn !== this.turn) return;
      this.error = e as Error;
    }
    this.loading = false;
  };
}
