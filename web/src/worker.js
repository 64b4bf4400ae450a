// The service worker: the pages of the UI open without the server too. Values are
// not its business: live/kept.ts keeps the last known ones, which say how old they are.
// The build fills in what belongs to the UI.
importScripts('/push.js');
const shell = __SHELL__;
const prefix = 'shell-';
const name = prefix + shell.version;
const slow = 4000; // ms: a phone that only seems to have a network waits no longer

addEventListener('install', (e) => e.waitUntil(caches.open(name).then((cache) => cache.addAll(shell.files))));

addEventListener('activate', (e) => e.waitUntil(tidy()));

addEventListener('fetch', (e) => {
  const { request } = e;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin || url.pathname.startsWith('/api/')) return;
  if (request.mode === 'navigate') e.respondWith(page(request));
  else if (url.pathname.startsWith('/assets/')) e.respondWith(asset(request));
  else if (shell.files.includes(url.pathname)) e.respondWith(freshest(request, request));
});

async function tidy() {
  for (const key of await caches.keys()) if (key.startsWith(prefix) && key !== name) await caches.delete(key);
}

const stored = (request) => caches.match(request, { cacheName: name });

/** freshest asks the server; what it has no answer to in time is what was stored as `instead`. */
async function freshest(request, instead) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(reject, slow)));
  const asked = fetch(request);
  const answer = await Promise.race([asked, late]).catch(() => null);
  clearTimeout(timer);
  // Behind a proxy, a server that is away is a 502 to 504.
  if (answer && ![502, 503, 504].includes(answer.status)) return answer;
  return (await stored(instead)) ?? answer ?? asked;
}

/** page: every address of the UI is the same document. */
function page(request) {
  return freshest(request, '/');
}

/** asset: names under assets carry a hash of their content. */
async function asset(request) {
  const had = await stored(request);
  if (had) return had;
  const answer = await fetch(request);
  // The page of a network that wants somebody to sign in first is no part of the UI.
  const page = answer.headers.get('Content-Type')?.startsWith('text/html');
  if (answer.ok && !page) await (await caches.open(name)).put(request, answer.clone());
  return answer;
}
