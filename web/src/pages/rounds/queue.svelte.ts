// Checks that were done while the server could not be reached: kept by the browser, and sent when it answers again.
// They belong to one person in one workspace, as everything that is kept.
import { api, ask, Failure, type Schemas } from '../../api/client';
import { away, keep, kept } from '../../live/kept';

export interface Done {
  id: number;
  name: string;
  body: Schemas['CheckBody'];
  /** Why the server did not take it: somebody has to look at it again. */
  wrong?: string;
}

const key = 'rounds-done';

class Queue {
  list = $state.raw<Done[]>([]);
  /** Completions that the server kept as notes, since somebody else was first or it was too late. */
  late = $state.raw<string[]>([]);
  private sending: Promise<void> | undefined;

  async open() {
    this.list = (await kept<Done[]>(key))?.data ?? [];
  }

  private async set(list: Done[]) {
    this.list = list;
    await keep(key, list);
  }

  async add(d: Done) {
    await this.set([...this.list.filter((x) => x.id !== d.id), d]);
  }

  async drop(id: number) {
    await this.set(this.list.filter((x) => x.id !== id));
  }

  /** flush sends what waits, oldest first; what is refused stays, with the reason. */
  flush = () => (this.sending ??= this.run().finally(() => (this.sending = undefined)));

  private async run() {
    for (const d of this.list) {
      if (d.wrong) continue;
      try {
        const got = await ask(api.POST('/v1/checks/{id}/complete', { params: { path: { id: String(d.id) } }, body: d.body }));
        if (got.late) this.late = [...this.late, d.name];
        await this.drop(d.id);
      } catch (e) {
        if (away(e)) return;
        const fields = e instanceof Failure ? Object.values(e.fields).flat() : [];
        await this.set(this.list.map((x) => (x.id === d.id ? { ...x, wrong: fields.join('. ') || (e as Error).message } : x)));
      }
    }
  }
}

export const queue = new Queue();
