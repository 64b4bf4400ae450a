// What a page asks for, as it was when the server could last be reached.
import { away, keep, kept } from './kept';
import { stream } from './stream.svelte';

/** lastKnown asks, and keeps the answer; while the server is away it returns the one kept, and the stream says how old it is. */
export async function lastKnown<T>(key: string, asked: Promise<T>): Promise<T> {
  try {
    const data = await asked;
    void keep(key, data);
    return data;
  } catch (e) {
    const had = away(e) ? await kept<T>(key) : null;
    if (!had) throw e;
    stream.shows(had.at);
    return had.data;
  }
}
