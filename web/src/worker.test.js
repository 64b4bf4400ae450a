// The service worker, run among the things that one has.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

const code = readFileSync(new URL('./worker.js', import.meta.url), 'utf8').replace('__SHELL__', '{ version: "1", files: ["/"] }');

test.each([
  ['a part of the UI', 'text/javascript', ['/assets/a.js']],
  ['the page of a network that wants a password first', 'text/html; charset=utf-8', []],
])('keeps %s for ever, or not', async (_, type, kept) => {
  const heard = {};
  const stored = [];
  runInNewContext(code, {
    importScripts: () => {},
    addEventListener: (name, listen) => (heard[name] = listen),
    location: { origin: 'https://rime.example' },
    URL,
    caches: { match: async () => undefined, open: async () => ({ put: async (request) => void stored.push(new URL(request.url).pathname) }) },
    fetch: async () => new Response('…', { headers: { 'Content-Type': type } }),
  });
  let answer;
  heard.fetch({ request: { method: 'GET', url: 'https://rime.example/assets/a.js' }, respondWith: (r) => (answer = r) });
  expect((await answer).status).toBe(200);
  expect(stored).toEqual(kept);
});
