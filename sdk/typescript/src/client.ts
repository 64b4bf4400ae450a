import { RimewatchError } from './error.js';
import { again, sleep, type Backoff } from './retry.js';
import type { components, paths } from './schema.js';
import { stream, type StreamMessage, type Subscription } from './stream.js';

/** What the API describes, by name: `Schemas['Device']`. */
export type Schemas = components['schemas'];

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that take a method. */
export type Path<M extends Method> = { [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never }[keyof paths];

type Operation<P, M extends Method> = P extends keyof paths ? (paths[P] extends { [K in M]: infer O } ? O : never) : never;
type Parameter<O, In extends string> = O extends { parameters: infer A } ? (A extends { [K in In]?: infer V } ? NonNullable<V> : never) : never;

/** The JSON body of an operation. */
export type Body<P, M extends Method> = Operation<P, M> extends { requestBody?: infer B } ? (NonNullable<B> extends { content: infer C } ? ('application/json' extends keyof C ? C['application/json'] : never) : never) : never;

/** The data of an operation's answer. */
export type Data<P, M extends Method> = Operation<P, M> extends { responses: infer R }
  ? { [S in keyof R & (200 | 201)]: R[S] extends { content: { 'application/json': { data: infer D } } } ? D : never }[keyof R & (200 | 201)]
  : never;

/** The parameters of an operation. */
export type Init<P, M extends Method> = {
  /** Of the path, such as `{ serial: 'WIF-0001' }`. */
  path?: { [K in keyof Parameter<Operation<P, M>, 'path'>]: string | number };
  query?: Parameter<Operation<P, M>, 'query'> & Record<`label.${string}`, string>;
  body?: Body<P, M>;
  /** The ETag of an earlier answer: 412 when the thing was changed since. */
  ifMatch?: string;
  /** A text that no other call has within 24 h: a call that is made again with it is carried out once. Default: a random one, but for readings. */
  idempotencyKey?: string;
  /** Changes only what the body names, labels too, and removes what is null: application/merge-patch+json. */
  merge?: boolean;
  signal?: AbortSignal;
};

type AnyInit = { path?: unknown; query?: unknown; body?: unknown; ifMatch?: string; idempotencyKey?: string; merge?: boolean; signal?: AbortSignal; accept?: string };

type Item<D> = { [K in Exclude<keyof D, 'warnings'>]: D[K] extends readonly (infer T)[] ? T : never }[Exclude<keyof D, 'warnings'>];

/** An answer with its headers. */
export interface Answer<D> {
  data: D;
  status: number;
  /** Of what people set; for `ifMatch`. */
  etag: string | undefined;
  headers: Headers;
}

/** What happened, for programs. */
export type Event = Schemas['Event'];

export interface Options extends Partial<Backoff> {
  fetch?: typeof fetch;
  /** Default: the global one, which Node has from 22 on. */
  WebSocket?: typeof WebSocket;
  /** ms for one try of a call. Default 30,000. */
  timeout?: number;
}

/** Client of one workspace of one service. */
export class Rimewatch {
  /** Where the API is, without a slash at the end. */
  readonly url: string;
  private readonly o: Required<Omit<Options, 'WebSocket'>> & Pick<Options, 'WebSocket'>;

  /** `url` is the address of the service, with or without `/api`. */
  constructor(url: string, private readonly token: string, options: Options = {}) {
    this.url = new URL(url).href.replace(/\/+$/, '').replace(/\/api$/, '') + '/api';
    this.o = { fetch: globalThis.fetch.bind(globalThis), WebSocket: globalThis.WebSocket, timeout: 30_000, retries: 4, minBackoff: 200, maxBackoff: 5_000, maxWait: 60_000, ...options };
  }

  async get<P extends Path<'get'>>(path: P, init: Init<P, 'get'> = {}): Promise<Data<P, 'get'>> {
    return (await this.request('get', path, init)).data;
  }
  async post<P extends Path<'post'>>(path: P, init: Init<P, 'post'> = {}): Promise<Data<P, 'post'>> {
    return (await this.request('post', path, init)).data;
  }
  async put<P extends Path<'put'>>(path: P, init: Init<P, 'put'> = {}): Promise<Data<P, 'put'>> {
    return (await this.request('put', path, init)).data;
  }
  async patch<P extends Path<'patch'>>(path: P, init: Init<P, 'patch'> = {}): Promise<Data<P, 'patch'>> {
    return (await this.request('patch', path, init)).data;
  }
  async delete<P extends Path<'delete'>>(path: P, init: Init<P, 'delete'> = {}): Promise<Data<P, 'delete'>> {
    return (await this.request('delete', path, init)).data;
  }

  /** A call with the headers of its answer, such as the ETag. */
  async request<M extends Method, P extends Path<M>>(method: M, path: P, init: Init<P, M> = {}): Promise<Answer<Data<P, M>>> {
    const response = await this.send(method, path as string, init);
    const text = await response.text();
    let data: Data<P, M>;
    try {
      data = (JSON.parse(text) as { data: Data<P, M> }).data;
    } catch {
      throw new RimewatchError(response.status, 'not_the_api', 'something else than the service answered');
    }
    return { data, status: response.status, etag: response.headers.get('ETag') ?? undefined, headers: response.headers };
  }

  /** Yields the things of a list, page after page. */
  async *all<P extends Path<'get'>>(path: P, init: Init<P, 'get'> = {}): AsyncGenerator<Item<Data<P, 'get'>>> {
    let cursor: string | null | undefined;
    do {
      const query = { per_page: 100, ...(init.query as object), ...(cursor ? { cursor } : {}) };
      const data = (await this.get(path, { ...init, query } as unknown as Init<P, 'get'>)) as Record<string, unknown>;
      yield* Object.values(data).find(Array.isArray) as Item<Data<P, 'get'>>[];
      cursor = (data['pagination'] as { next_cursor?: string | null } | undefined)?.next_cursor;
    } while (cursor);
  }

  /** Yields the lines of an answer that is streamed as NDJSON, such as the history of many devices. */
  async *lines<P extends Path<'get'>>(path: P, init: Init<P, 'get'> = {}): AsyncGenerator<Record<string, unknown>> {
    const response = await this.send('get', path as string, { ...init, accept: 'application/x-ndjson' });
    let rest = '';
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        const lines = (rest + (value ?? '')).split('\n');
        rest = done ? '' : lines.pop()!;
        for (const line of lines) if (line) yield JSON.parse(line) as Record<string, unknown>;
        if (done) return;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  /**
   * Yields events, and waits for those to come until `signal` ends it. Store the id of the last event that was dealt with and
   * pass it as `after`: no event is missed over a restart of either side within 30 days, and none comes twice. After that
   * the error is 410 `cursor_expired`. A service that is away is asked again until it is back.
   */
  async *events(init: { after?: string; since?: string; types?: string[]; siteId?: number; /** ms between questions when nothing happens. Default 1,000. */ every?: number; signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    let after = init.after;
    for (let failures = 0; ; ) {
      let page: Data<'/v1/events', 'get'>;
      try {
        page = await this.get('/v1/events', {
          query: { per_page: 1000, after, since: init.since, types: init.types?.join(','), site_id: init.siteId },
          signal: init.signal,
        });
        failures = 0;
      } catch (error) {
        const lasting = error instanceof RimewatchError && error.status < 500 && error.status !== 429;
        if (lasting || init.signal?.aborted) throw error;
        await sleep(Math.min(30_000, 1000 * 2 ** failures++), init.signal);
        continue;
      }
      for (const event of page.events) {
        yield event;
        after = event.id;
      }
      after = page.next_cursor ?? after;
      if (!page.has_more) await sleep(init.every ?? 1000, init.signal);
    }
  }

  /**
   * Yields what happens, at once, until `signal` ends it. A lost connection is made again and goes on after the last message:
   * none is missed within ten minutes, and none comes twice. After a `subscribed` that is not `recovered`, fetch the present state.
   */
  stream(subscriptions: Subscription[], signal?: AbortSignal): AsyncGenerator<StreamMessage> {
    return stream(
      { url: this.url, ticket: async () => (await this.post('/v1/stream/tickets', { signal })).ticket, WebSocket: this.o.WebSocket, backoff: this.o },
      subscriptions,
      signal,
    );
  }

  private async send(method: Method, path: string, init: AnyInit): Promise<Response> {
    const url = new URL(this.url + path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String((init.path as Record<string, unknown>)?.[name] ?? ''))));
    for (const [name, value] of Object.entries((init.query ?? {}) as Record<string, unknown>)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, Array.isArray(value) ? value.join(',') : String(value));
    }
    const headers: Record<string, string> = { Accept: init.accept ?? 'application/json', 'User-Agent': 'rimewatch-typescript' };
    if (this.token) headers['Authorization'] = `Bearer ${this.token}`;
    if (init.body !== undefined) headers['Content-Type'] = init.merge ? 'application/merge-patch+json' : 'application/json';
    if (init.ifMatch) headers['If-Match'] = init.ifMatch;
    const readings = method === 'post' && /\/(readings|readings\/batch|heartbeat)$/.test(path);
    const key = init.idempotencyKey ?? (method === 'post' && !readings ? crypto.randomUUID() : undefined);
    if (key) headers['Idempotency-Key'] = key;
    // A second DELETE may meet a successor of the same name.
    const idempotent = method === 'post' ? key !== undefined || timed(init.body) : method !== 'delete';
    const body = init.body === undefined ? undefined : JSON.stringify(init.body);
    for (let attempt = 0; ; attempt++) {
      try {
        const limit = AbortSignal.timeout(this.o.timeout);
        const response = await this.o.fetch(url, { method: method.toUpperCase(), headers, body, signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit, redirect: 'error' });
        if (response.ok) return response;
        throw await RimewatchError.of(response);
      } catch (error) {
        if (init.signal?.aborted) throw error;
        const wait = again(this.o, error, attempt, idempotent);
        if (wait === undefined) throw error;
        await sleep(wait, init.signal);
      }
    }
  }
}

/** Whether all readings of a body have a time, by which the service keeps each of them once. */
function timed(body: unknown): boolean {
  const readings = (body as { readings?: unknown[] } | undefined)?.readings ?? [body];
  return readings.every((r) => (r as { recorded_at?: unknown } | undefined)?.recorded_at !== undefined);
}
