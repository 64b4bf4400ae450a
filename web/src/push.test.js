// The part of the service worker that shows notifications, run as the worker runs it.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const code = readFileSync(new URL('../public/push.js', import.meta.url), 'utf8');

/** worker runs push.js among the things that a service worker has; `answer` is what the server says. */
function worker({ answer = { ok: true }, pages = [] } = {}) {
  const heard = {};
  const did = { shown: [], asked: [], opened: [], subscribed: [] };
  const asNew = (endpoint) => ({ endpoint, toJSON: () => ({ keys: { p256dh: 'key', auth: 'secret' } }) });
  runInNewContext(code, {
    addEventListener: (name, listen) => (heard[name] = listen),
    registration: {
      showNotification: (title, options) => void did.shown.push({ title, ...options }),
      pushManager: { subscribe: async (options) => (did.subscribed.push(options), asNew('https://push.example/anew')) },
    },
    clients: { matchAll: async () => pages, openWindow: (path) => did.opened.push(path) },
    fetch: async (path, { method, credentials, body }) => {
      did.asked.push({ path, method, credentials, body: JSON.parse(body) });
      if (answer instanceof Error) throw answer;
      return answer;
    },
    navigator: {},
  });
  /** happens runs a listener until what it waits for is done. */
  const happens = async (name, event) => {
    let until;
    heard[name]({ ...event, waitUntil: (p) => (until = p) });
    await until;
    return did;
  };
  return { happens, asNew };
}

const told = { title: 'Too warm', body: '8 °C', tag: 'alert-7', lang: 'es', path: '/alerts/7', alert_id: 7, urgent: true, acknowledge: 'Confirmar', done: 'Confirmada', failed: 'No se pudo' };
const clicked = (data, action = '') => {
  const event = { action, closed: false, notification: { data, close: () => (event.closed = true) } };
  return event;
};

test('shows what it is told, with a button for an alert', async () => {
  const { shown } = await worker().happens('push', { data: { json: () => told } });
  expect(shown).toMatchObject([{ title: 'Too warm', body: '8 °C', tag: 'alert-7', lang: 'es', requireInteraction: true, actions: [{ action: 'acknowledge', title: 'Confirmar' }] }]);
});

test('shows something for a push without contents', async () => {
  const { shown } = await worker().happens('push', { data: null });
  expect(shown).toMatchObject([{ title: 'Rimewatch', actions: [], requireInteraction: false }]);
});

test('acknowledges with the session of the browser, and says so without the button', async () => {
  const event = clicked(told, 'acknowledge');
  const { asked, shown } = await worker().happens('notificationclick', event);
  expect(event.closed).toBe(true);
  expect(asked).toEqual([{ path: '/api/v1/alerts/7/acknowledge', method: 'POST', credentials: 'same-origin', body: {} }]);
  expect(shown).toMatchObject([{ body: 'Confirmada', actions: [], requireInteraction: false }]);
});

test.each([['refused', { ok: false }], ['not reached', new Error('no network')]])('says that it failed when it is %s', async (_, answer) => {
  const { shown } = await worker({ answer }).happens('notificationclick', clicked(told, 'acknowledge'));
  expect(shown).toMatchObject([{ body: 'No se pudo', tag: 'alert-7' }]);
});

test('opens the alert, in the page that is open if there is one', async () => {
  expect((await worker().happens('notificationclick', clicked(told))).opened).toEqual(['/alerts/7']);
  const went = [];
  const page = { focus: async () => went.push('focus'), navigate: (path) => went.push(path) };
  expect((await worker({ pages: [page] }).happens('notificationclick', clicked(told))).opened).toEqual([]);
  expect(went).toEqual(['focus', '/alerts/7']);
});

test('tells the server of a new address, and which one it replaces', async () => {
  const w = worker();
  const old = { endpoint: 'https://push.example/old', options: { userVisibleOnly: true } };
  const { asked, subscribed } = await w.happens('pushsubscriptionchange', { oldSubscription: old });
  expect(subscribed).toEqual([old.options]);
  const keys = { p256dh: 'key', auth: 'secret' };
  expect(asked).toEqual([{ path: '/api/v1/me/push', method: 'POST', credentials: 'same-origin', body: { endpoint: 'https://push.example/anew', keys, name: 'Browser', old_endpoint: old.endpoint } }]);
  const given = await worker().happens('pushsubscriptionchange', { newSubscription: w.asNew('https://push.example/given') });
  expect(given.asked[0].body).toEqual({ endpoint: 'https://push.example/given', keys, name: 'Browser' });
  expect(given.subscribed).toEqual([]);
});
