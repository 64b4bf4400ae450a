import { RimewatchError } from './error.js';
import { backoff, sleep, type Backoff } from './retry.js';

/** What to listen to. */
export interface Subscription {
  channel: 'readings' | 'devices' | 'alerts' | 'events' | 'summary';
  filter?: { serials?: string[]; site_id?: number; equipment_type?: string; severity?: string; type?: string; types?: string[] };
  /** The id of the last message that was dealt with, of an earlier stream. */
  since?: string;
}

export type StreamMessage =
  | { op: 'event'; channel: string; id: string; event: string; at: string; data: Record<string, unknown> }
  /** The channel is listened to, at the beginning and after every lost connection. Unless `recovered`, messages may be missing before it. */
  | { op: 'subscribed'; channel: string; last_event_id: string; recovered: boolean };

interface Connection {
  url: string;
  ticket: () => Promise<string>;
  WebSocket: typeof WebSocket | undefined;
  backoff: Backoff;
}

/** The ids that are remembered, so that what comes again after a lost connection is dropped. */
const REMEMBERED = 20_000;

/** Closings that would repeat themselves: the token has ended, its rights have changed. */
const FINAL = new Set([4401, 4403]);

export async function* stream(c: Connection, subscriptions: Subscription[], signal?: AbortSignal): AsyncGenerator<StreamMessage> {
  if (!c.WebSocket) throw new Error('this runtime has no WebSocket: pass one as the option WebSocket');
  if (new Set(subscriptions.map((s) => s.channel)).size !== subscriptions.length) throw new Error('a channel is subscribed to twice');
  const subs = subscriptions.map((s) => ({ ...s }));
  const seen = new Set<string>();
  for (let failures = 0; ; ) {
    try {
      for await (const message of connection(c, subs, signal)) {
        failures = 0;
        const sub = subs.find((s) => s.channel === message.channel);
        if (message.op === 'subscribed') {
          yield message;
          if (sub) sub.since = message.last_event_id;
        } else if (!seen.has(message.id)) {
          seen.add(message.id);
          if (seen.size > REMEMBERED) seen.delete(seen.values().next().value!);
          yield message;
          if (sub) sub.since = message.id;
        }
      }
    } catch (error) {
      if (signal?.aborted) throw error;
      if (error instanceof RimewatchError && error.status < 500 && error.status !== 429) throw error;
    }
    await sleep(backoff(c.backoff, failures++), signal);
  }
}

/** Yields the messages of one connection until that is lost. */
async function* connection(c: Connection, subs: Subscription[], signal?: AbortSignal): AsyncGenerator<StreamMessage> {
  signal?.throwIfAborted();
  const url = `${c.url.replace(/^http/, 'ws')}/v1/stream?ticket=${encodeURIComponent(await c.ticket())}`;
  const socket = new c.WebSocket!(url, 'rimewatch.v1');
  const waiting: (StreamMessage | Error | null)[] = [];
  let wake = () => {};
  const put = (message: StreamMessage | Error | null) => {
    waiting.push(message);
    wake();
  };
  const stop = () => put(signal!.reason instanceof Error ? signal!.reason : new Error('stopped'));
  signal?.addEventListener('abort', stop, { once: true });
  socket.onopen = () => subs.forEach(({ channel, filter, since }, id) => socket.send(JSON.stringify({ op: 'subscribe', id, channel, filter, since })));
  socket.onclose = ({ code }) => put(FINAL.has(code) ? new RimewatchError(0, code === 4401 ? 'unauthenticated' : 'forbidden', 'the stream was closed') : null);
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data as string) as StreamMessage | { op: 'error'; error: { code: string; message: string; fields: Record<string, string[]> } };
    if (message.op === 'error') put(new RimewatchError(0, message.error.code, message.error.message, message.error.fields));
    else if (message.op === 'event' || message.op === 'subscribed') put(message); // later versions may say more
  };
  try {
    for (;;) {
      const message = waiting.shift();
      if (message === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (message === null) return;
      else if (message instanceof Error) throw message;
      else yield message;
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    socket.onclose = null;
    socket.close();
  }
}
