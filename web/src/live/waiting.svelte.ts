// How many senders wait to be accepted. There is no event for them, so they are
// asked for while somebody looks.
import { untrack } from 'svelte';
import { api, ask } from '../api/client';
import { keep, kept } from './kept';

/** waitingNow counts all senders that wait. */
export async function waitingNow(): Promise<number> {
  const { waiting_senders: n } = await ask(api.GET('/v1/sources'));
  void keep('waiting', n);
  return n;
}

/** waitingBefore returns how many waited when the server last said so, 0 where that is not known. */
export async function waitingBefore(): Promise<number> {
  return (await kept<number>('waiting'))?.data ?? 0;
}

/** every calls f now and every so many ms while the page is seen; the returned function ends it. */
export function every(ms: number, f: () => Promise<unknown>): () => void {
  let over = false;
  let timer: ReturnType<typeof setTimeout>;
  const turn = async () => {
    if (document.visibilityState === 'visible') await untrack(f).catch(() => {}); // asked again next time
    if (!over) timer = setTimeout(turn, ms);
  };
  void turn();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
