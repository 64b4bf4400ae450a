// What an idle machine never shows: with SLOW=7 each answer of the API takes up to 0.4 s longer, half of it before the server is
// asked, as that seed draws it, what the stream says up to 0.2 s, and the pages compute at a quarter of their speed. What a page
// or a test takes for granted of the order in which things happen fails then.
import type { BrowserContext, Page, Route, WebSocketRoute } from 'playwright-core';

const seed = Number(process.env.SLOW ?? 0);
let state = seed;
/** drawn waits up to 200 ms: https://en.wikipedia.org/wiki/Linear_congruential_generator, as in Numerical Recipes. */
const drawn = () => new Promise((go) => setTimeout(go, ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * 200));

async function late(route: Route) {
  await drawn();
  if (route.request().isNavigationRequest()) return route.fallback(); // a file that is saved
  const response = await route.fetch();
  await drawn();
  await route.fulfill({ response });
}

// What the server says comes late, in its order.
async function lateStream(page: WebSocketRoute) {
  await drawn();
  const server = page.connectToServer();
  let before: Promise<unknown> = Promise.resolve();
  const later = (say: () => unknown) => (before = Promise.all([before, drawn()]).then(say).catch(() => {})); // the page may be left
  server.onMessage((m) => later(() => page.send(m)));
  server.onClose((code, reason) => later(() => page.close({ code, reason })));
}

/** slowed makes a browser's page slow if SLOW asks for it. */
export async function slowed(context: BrowserContext, page: Page) {
  if (!seed) return;
  await context.route(/\/api\/v1\//, (route) => late(route).catch(() => route.abort().catch(() => {}))); // the network may be cut, the page left
  await context.routeWebSocket(/\/api\/v1\/stream$/, lateStream);
  await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: 4 });
}
