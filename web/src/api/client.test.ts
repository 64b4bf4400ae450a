import { afterEach, expect, it, vi } from 'vitest';
import { api, ask, type Failure } from './client';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** settle waits until everything that can go on has. */
const settle = () => new Promise((done) => setTimeout(done));

const said = (data: unknown) => new Response(JSON.stringify({ success: true, data }));

/** keysOver are the idempotency keys of what is sent over a network that may fail. */
function keysOver(network: { reachable: boolean }) {
  const keys: string[] = [];
  vi.stubGlobal('fetch', async (_: string, { headers }: { headers: Record<string, string> }) => {
    keys.push(headers['Idempotency-Key']!);
    if (!network.reachable) throw new TypeError('no network');
    return said({});
  });
  return { keys, network };
}

/** held is a network that answers when told to, path by path; asked is what has come to it. */
function held() {
  const asked: string[] = [];
  const answers: Record<string, (r: Response) => void> = {};
  vi.stubGlobal('fetch', (url: string) => {
    const path = url.replace('/api/v1/', '');
    asked.push(path);
    return new Promise<Response>((resolve) => (answers[path] = resolve));
  });
  return { asked, answer: (path: string, status = 200) => answers[path]!(new Response('{}', { status })) };
}

it('gives nobody an answer older than one that is here', async () => {
  const answer: ((r: Response) => void)[] = [];
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => answer.push(resolve)));
  const of = (id: string) => ask(api.GET('/v1/alerts/{id}', { params: { path: { id } } })) as Promise<unknown>;
  const first = of('7');
  const other = of('8');
  const second = of('7');
  await settle();
  answer[2]!(said('newer'));
  expect(await second).toBe('newer');
  answer[0]!(said('older'));
  answer[1]!(said('another'));
  expect([await first, await other]).toEqual(['newer', 'another']);
  const later = of('7');
  await settle();
  answer[3]!(said('asked later'));
  expect(await later).toBe('asked later');
});

it('sends again by the same key what was not heard of, for a while', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { keys, network } = keysOver({ reachable: false });
  const note = (text: string) => ask(api.POST('/v1/alerts/{id}/notes', { params: { path: { id: '7' } }, body: { note: text } })).catch((e: Failure) => e.status);
  await note('a');
  await note('a');
  await note('b');
  expect(new Set(keys).size).toBe(2);
  expect(keys[1]).toBe(keys[0]);
  vi.setSystemTime(Date.now() + 11 * 60_000);
  await note('a');
  expect(keys[3]).not.toBe(keys[0]);
  network.reachable = true;
  await note('a');
  expect(keys[4]).toBe(keys[3]);
  await note('a'); // the one before was heard of: this is another
  expect(keys[5]).not.toBe(keys[4]);
});

it('keeps the key of what was not heard of while others are, until one of its kind is changed', async () => {
  const { keys, network } = keysOver({ reachable: false });
  const end = { ends_at: '2030-01-01T00:00:00Z' };
  const silence = () => ask(api.POST('/v1/silences', { body: { match: {}, comment: '', ...end } })).catch(() => {});
  await silence();
  network.reachable = true;
  await ask(api.POST('/v1/alerts/{id}/notes', { params: { path: { id: '7' } }, body: { note: 'a' } }));
  await ask(api.PATCH('/v1/me', { body: { theme: 'dark' } }));
  network.reachable = false;
  await silence();
  expect(keys[3]).toBe(keys[0]);
  network.reachable = true;
  await ask(api.POST('/v1/silences/{id}/end', { params: { path: { id: '1' } } }));
  await silence(); // it was made and ended: this is another
  expect(keys[5]).not.toBe(keys[0]);
});

it('takes the page of another network for no answer', async () => {
  vi.stubGlobal('fetch', async () => new Response('<html>Sign in to the WiFi</html>', { headers: { 'Content-Type': 'text/html' } }));
  const failure = await ask(api.GET('/v1/me')).catch((e: Failure) => e);
  expect([(failure as Failure).offline, (failure as Failure).status]).toEqual([true, 0]);
});

// A request with the old session that came after the new password would be refused, and the person signed out.
it('renews the session while nothing else is under way', async () => {
  const { asked, answer } = held();
  const before = api.GET('/v1/devices');
  await settle();
  const password = api.POST('/v1/me/password', { body: { current_password: 'a', password: 'b' } });
  const after = api.GET('/v1/alerts');
  await settle();
  expect(asked).toEqual(['devices']);
  answer('devices');
  await before;
  await settle();
  expect(asked).toEqual(['devices', 'me/password']);
  answer('me/password');
  await password;
  await settle();
  expect(asked).toEqual(['devices', 'me/password', 'alerts']);
  answer('alerts');
  await after;
});

it('signs out when what was asked before is answered, and does not send what is asked meanwhile', async () => {
  const { asked, answer } = held();
  const before = api.GET('/v1/devices');
  await settle();
  let left = api.POST('/v1/auth/sign-out');
  await settle();
  expect(asked).toEqual(['devices']);
  answer('devices');
  await before;
  await settle();
  const during = api.GET('/v1/alerts');
  answer('auth/sign-out', 500);
  await left; // which the server could not do: everything goes on
  await settle();
  expect(asked).toEqual(['devices', 'auth/sign-out', 'alerts']);
  answer('alerts');
  await during;

  left = api.POST('/v1/auth/sign-out');
  await settle();
  const late = api.GET('/v1/sites');
  answer('auth/sign-out');
  await left;
  expect((await late).response.status).toBe(401);
  void api.GET('/v1/setup'); // of whoever comes next
  await settle();
  expect(asked.slice(3)).toEqual(['auth/sign-out', 'setup']);
});
