// The keys of a source, and who is heard by each. Pure.
import { api, ask, type Schemas } from '../../api/client';
import { tr } from '../../words/tr';

export type Key = Schemas['SourceKeyJSON'];
/** Given is what is shown once: a key, and where it is used. */
export type Given = Pick<Schemas['SourceWithKey'], 'key' | 'url' | 'mqtt_url'>;

/** keysOf lists the keys of a source. */
export async function keysOf(source: number): Promise<Key[]> {
  return (await ask(api.GET('/v1/source-keys', { params: { query: { source_id: source } } }))).source_keys;
}

/** labelOf is what a key is called. */
export const labelOf = (k: Key) => k.name || `${k.prefix}…`;

/** dependent lists who is heard by a key and, as far as is known, by no other one since. */
export function dependent(k: Key, all: Key[]): string[] {
  return k.heard
    .filter((d) => !all.some((o) => o.id !== k.id && o.heard.some((e) => e.device_serial === d.device_serial && e.at >= d.at)))
    .map((d) => d.name || d.device_serial);
}

const most = 20;

/** named is a list of names, cut where it gets long. */
export const named = (names: string[], count = names.length) => names.slice(0, most).join(', ') + (count > most ? '…' : '');

/** heardBy says who was heard by a key: of one that was replaced, who has not come back. */
export function heardBy(k: Key): string {
  if (!k.device_count) return k.used_at ? tr('Heard by it: senders that nobody has accepted yet.') : tr('Nothing was heard by it yet.');
  const away = k.heard.filter((d) => d.at < k.made_at);
  const back = k.heard.filter((d) => d.at >= k.made_at);
  const all = (list: Key['heard']) => named(list.map((d) => d.name || d.device_serial), list.length + k.device_count - k.heard.length);
  return [back.length ? tr('Heard by it: {list}.', { list: all(back) }) : '', away.length ? tr('Not since it was replaced: {list}.', { list: all(away) }) : ''].filter(Boolean).join(' ');
}
