// What somebody has asked for here and may still take back: the server carries it out when its time has come, whether or not the page
// is still open.
import { api, ask, Failure, whenLater, type Act } from '../api/client';
import { clock } from './clock.svelte';
import { toasts } from '../ui/toasts.svelte';
import { tr } from '../words/tr';

const stored = 'rimewatch.acts';
const soon = 1000; // ms: the server looks for what is due about as often
const patience = 30; // times

class Undo {
  /** Those that wait, the newest last. */
  list = $state.raw<Act[]>([]);
  /** Changes when one was carried out: lists ask again. */
  settled = $state(0);
  /** How many were asked for, ever. */
  asked = 0;

  constructor() {
    try {
      // Of before the page was loaded anew.
      for (const a of JSON.parse(sessionStorage.getItem(stored) ?? '[]') as Act[]) if (Date.parse(a.effective_at) > Date.now()) this.took(a);
    } catch {
      // Storage may be forbidden.
    }
    whenLater((a) => this.took(a));
  }

  /** took shows an act that waits. */
  took(a: Act) {
    this.asked++;
    if (this.list.some((x) => x.id === a.id)) return;
    this.keep([...this.list, a]);
    setTimeout(() => void this.due(a.id), Math.max(0, Date.parse(a.effective_at) - clock.exact()));
  }

  /** undo takes one back. */
  async undo(id: number) {
    try {
      await ask(api.POST('/v1/acts/{id}/undo', { params: { path: { id: String(id) } } }));
      toasts.say(tr('Taken back. Nothing was changed.'));
    } catch (e) {
      toasts.say((e as Error).message, true);
      if (!(e instanceof Failure) || !e.status) return; // it may be tried again
    }
    this.drop(id);
    this.settled++;
  }

  private async due(id: number) {
    if (!this.list.some((a) => a.id === id)) return;
    this.drop(id);
    for (let i = 0; i < patience; i++) {
      await new Promise((done) => setTimeout(done, soon));
      const act = await ask(api.GET('/v1/acts/{id}', { params: { path: { id: String(id) } } })).then((got) => got.act, () => null);
      if (!act || act.state === 'pending') continue;
      if (act.state === 'failed') toasts.say(tr('It could not be done: {why}', { why: act.failure }), true);
      this.settled++;
      return;
    }
  }

  private drop(id: number) {
    this.keep(this.list.filter((a) => a.id !== id));
  }

  private keep(list: Act[]) {
    this.list = list;
    try {
      sessionStorage.setItem(stored, JSON.stringify(list));
    } catch {
      // It then lasts as long as the page.
    }
  }
}

export const undo = new Undo();
