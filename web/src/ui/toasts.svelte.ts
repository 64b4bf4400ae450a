// Short messages at the edge of the screen.
export interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

class Toasts {
  list = $state<Toast[]>([]);
  private last = 0;

  say(text: string, bad = false) {
    const id = ++this.last;
    this.list.push({ id, text, bad });
    setTimeout(() => this.drop(id), bad ? 8000 : 4000);
  }

  drop(id: number) {
    this.list = this.list.filter((t) => t.id !== id);
  }
}

export const toasts = new Toasts();

/** optimistic shows a change at once and takes it back when the server refuses. */
export async function optimistic<T>(apply: () => void, call: () => Promise<T>, undo: () => void): Promise<T | undefined> {
  apply();
  try {
    return await call();
  } catch (e) {
    undo();
    toasts.say((e as Error).message, true);
    return undefined;
  }
}
