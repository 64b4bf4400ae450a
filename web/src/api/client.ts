// The client of the REST API. Its types come from the description that the
// server serves, so a change of the API that the UI does not follow is a
// compile error.
import type { Client } from 'openapi-fetch';
import { named } from './here';
import { clock } from '../live/clock.svelte';
import type { components, paths } from './schema';
import { language, tr } from '../words/tr';

export type Schemas = components['schemas'];
export type Device = Schemas['DeviceItem'];
export type DeviceDetail = Schemas['DeviceDetail'];
export type Alert = Schemas['Alert'];
export type Limits = Schemas['Limits'];
export type Site = Schemas['Site'];
export type EquipmentType = Schemas['EquipmentType'];
export type Summary = Schemas['HealthSummary'];
export type Coverage = Schemas['Coverage'];
export type Hold = Schemas['Hold'];
export type Me = Schemas['Me'];
export type Act = Schemas['ActJSON'];
export type Latest = Schemas['LatestReading'];
export type Reading = Schemas['Reading'];
export type Bucket = Schemas['HistoryBucket'];

/** Failure is an answer that is not a success, or no answer at all (status 0). */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: Record<string, string[]> = {},
    readonly requestId = '',
  ) {
    super(message);
  }

  get offline() {
    return this.status === 0;
  }
}

interface Call {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown> };
  body?: unknown;
  signal?: AbortSignal;
}

// Longer than any answer takes: what has not come by then does not come, and holds one of the few connections that a browser has.
const silent = 60_000; // ms

// What was sent and not heard of may have been done. Sent again, it has the same key, by which the server does it once.
const unheard = new Map<string, { key: string; at: number; url: string }>();
const sameFor = 600_000; // ms; later, the same words are meant anew

function keyOf(url: string, request: string): string {
  const had = unheard.get(request);
  const key = had && Date.now() - had.at < sameFor ? had.key : `${Date.now()}-${Math.random()}`;
  unheard.set(request, { key, at: Date.now(), url });
  return key;
}

// What was answered is forgotten, and whatever made a thing of which one was changed or deleted since: the same words make another.
function heard(method: string, url: string, request: string) {
  for (const [r, of] of unheard) if (r === request || url.startsWith(of.url + '/') || (method !== 'POST' && url === of.url)) unheard.delete(r);
}

// What theme.js has asked before this code was there, by its address: taken once, and not after something was changed.
let ahead: Record<string, Promise<Response> | undefined> = (globalThis as { ahead?: typeof ahead }).ahead ?? {};

// What openapi-fetch does, as far as we need it: of the package we use the types alone, so that no page loads its code.
async function send(method: string, path: string, { params, body, signal }: Call = {}): Promise<Answer> {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(params?.query ?? {})) for (const v of [value].flat()) if (v != null) values.append(name, String(v));
  const query = values.toString();
  const at = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params!.path![name])));
  const url = `/api${at}${query && '?' + query}`;
  const late = AbortSignal.timeout(silent);
  const sent = body === undefined ? undefined : JSON.stringify(body);
  if (method !== 'GET') ahead = {};
  const asked = ahead[url];
  delete ahead[url];
  const response = await (asked ?? fetch(url, {
    method,
    signal: signal ? (AbortSignal.any?.([signal, late]) ?? signal) : late,
    credentials: 'same-origin',
    headers: { Accept: 'application/json', 'Accept-Language': language, ...named(), ...(sent && { 'Content-Type': 'application/json' }), ...(method === 'POST' && { 'Idempotency-Key': keyOf(url, url + sent) }), ...(method !== 'GET' && { Prefer: 'respond-async' }) },
    body: sent,
  }));
  const text = await response.text();
  if (method !== 'GET' && response.status < 502) heard(method, url, url + sent);
  if (response.ok) return { data: text ? JSON.parse(text) : undefined, response };
  try {
    return { error: JSON.parse(text), response };
  } catch {
    return { error: text, response }; // of a proxy
  }
}

// Of two answers to one question the one to the later is newer, whichever comes first: whoever asked earlier is given it, too.
const questions = new Map<string, { asked: number; open: number; of: number; answer?: Answer }>();

async function inOrder(method: string, path: string, call?: Call): Promise<Answer> {
  if (method !== 'GET') return send(method, path, call);
  const question = path + JSON.stringify(call?.params);
  const q = questions.get(question) ?? { asked: 0, open: 0, of: 0 };
  questions.set(question, q);
  const mine = ++q.asked;
  q.open++;
  try {
    const answer = await send(method, path, call);
    if (mine > q.of) {
      q.of = mine;
      q.answer = answer;
    }
    return q.answer!;
  } finally {
    if (--q.open === 0) questions.delete(question);
  }
}

// Their answers put another session in the place of this one: a request that came to the server after that, with the old one, would be
// refused, and read as its end. So they wait for those under way, and the next ones for them. After those with a 1 there is no session,
// or one in another workspace: what waited was asked in the old one, and is refused without being sent.
const renewing: Record<string, 0 | 1> = { '/v1/me/password': 0, '/v1/me/second-factor/confirm': 0, '/v1/me/second-factor/remove': 0, '/v1/auth/sign-out': 1, '/v1/me/workspace': 1 };
let ended = 0;
const patience = 5000; // ms
const underway = new Set<Promise<unknown>>();
let renewed: Promise<unknown> = Promise.resolve();

async function inTurn(method: string, path: string, call?: Call): Promise<Answer> {
  const ends = renewing[path];
  if (ends != null) {
    const others = Promise.race([Promise.allSettled(underway), new Promise((done) => setTimeout(done, patience))]);
    const answer = others.then(() => send(method, path, call));
    renewed = answer.then(
      (a) => void (ended += a.response.ok ? ends : 0),
      () => {},
    );
    return answer;
  }
  const before = ended;
  await renewed;
  if (before !== ended) return { response: new Response(null, { status: 401 }) };
  const answer = inOrder(method, path, call);
  const over = () => underway.delete(answer);
  underway.add(answer);
  answer.then(over, over);
  return answer;
}

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
export const api = Object.fromEntries(methods.map((m) => [m, (path: string, call?: Call) => inTurn(m, path, call)])) as unknown as Pick<Client<paths>, (typeof methods)[number]>;

// Who is to hear that the session has ended.
let onSignedOut: () => void = () => {};
export function whenSignedOut(fn: () => void) {
  onSignedOut = fn;
}

// Who is to hear of what the server has kept for later.
let onLater: (act: Act) => void = () => {};
export function whenLater(fn: typeof onLater) {
  onLater = fn;
}

interface Answer {
  data?: unknown;
  error?: unknown;
  response: Response;
}

interface Envelope {
  success: boolean;
  data: unknown;
}

// What is in the envelope of a successful answer. Routes that also answer in
// other types than JSON are asked for JSON here.
type Data<T> = T extends { data: infer D } ? Extract<D, Envelope>['data'] : never;

/** ask runs a call of `api` and returns what is in its envelope, or throws a Failure. */
export async function ask<T extends Answer>(call: Promise<T>): Promise<Data<T>> {
  let answer: T;
  try {
    answer = await call;
    const headers = answer.response.headers;
    // An answer out of the cache carries the time of then.
    if (headers.get('Cache-Control') === 'no-store') clock.heard(headers.get('Date'));
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e;
    throw new Failure(0, 'offline', tr('The server cannot be reached.'));
  }
  const envelope = answer.data as Envelope | undefined;
  if (envelope?.success) {
    const { act } = envelope.data as { act?: Act };
    if (answer.response.status === 202 && act) onLater(act);
    return envelope.data as Data<T>;
  }
  const status = answer.response.status;
  const said = (answer.error as { error?: Schemas['FailureDetail'] } | undefined)?.error;
  const failure = said
    ? new Failure(status, said.code, said.message, (said.fields ?? {}) as Record<string, string[]>, said.request_id)
    : new Failure(status, 'unknown', tr('The server answered {status}.', { status }));
  if (status === 401 && failure.code === 'unauthenticated' && !answer.response.url.endsWith('/auth/sign-in')) onSignedOut();
  throw failure;
}

/** upload sends a file as it is, for which the typed client has no words. */
export async function upload<T>(path: string, file: Blob, headers: Record<string, string> = {}, method = 'POST'): Promise<T> {
  return (await ask(sendFile(`/api${path}`, file, headers, method))) as T;
}

async function sendFile(url: string, file: Blob, headers: Record<string, string>, method: string): Promise<Answer> {
  ahead = {};
  const response = await fetch(url, { method, credentials: 'same-origin', headers: { Accept: 'application/json', 'Accept-Language': language, 'Content-Type': 'text/csv', ...named(), ...headers }, body: file });
  const said = (await response.json().catch(() => null)) as unknown;
  return response.ok ? { data: said, response } : { error: said, response };
}

/** pages follows the cursor of a list until its end. */
export async function* pages<T extends { pagination: Schemas['Pagination'] }>(
  page: (cursor: string | undefined) => Promise<T>,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const got = await page(cursor);
    yield got;
    cursor = got.pagination.next_cursor ?? undefined;
  } while (cursor);
}
