// A whole chain falls silent and comes back while the overview, the page of alerts and the wall are open: each says what the API
// says, and none asks in vain.
import type { Request } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Visitor } from './browser';
import { numbers } from './figures';
import { openShop, type Shop } from './shop';

const size = 400;
const serials = Array.from({ length: size }, (_, i) => `U-${i}`);
/** csv has each device silent after so many seconds: one that has reported before that is so at once. */
const csv = (after: number) => 'serial,name,equipment_type,offline_after_s\n' + serials.map((s, i) => `${s},Unit ${i},walkin_cooler,${after}`).join('\n');

let { api, page, visitor } = {} as Shop;
const report = () => api.send('POST', '/v1/readings/batch', { readings: serials.map((device_serial) => ({ device_serial, product_zone_temp: 3, recorded_at: new Date().toISOString() })) });
const shop = openShop({
  fill: async (s) => {
    api = s.api;
    await api.import(csv(86_400));
    await report();
  },
});
const more: Visitor[] = [];
const failed: string[] = [];
const asked: string[] = []; // by the page of alerts
const underway = new Set<Request>(); // of those
let ended = 0; // alerts, as it has heard
let alerts: Visitor['page'];
let wall: Visitor['page'];

beforeAll(async () => {
  ({ page, visitor } = shop);
  for (const path of ['/alerts', '/wall']) {
    const v = await Visitor.arrive(shop.browser, shop.server);
    more.push(v);
    if (path === '/alerts') await v.page.clock.install(); // before there is a page: it would be 1970 for a moment
    await v.signIn(shop.owner.email, shop.owner.password);
    if (path === '/alerts') {
      const its = (r: Request) => r.url().includes('/api/v1/alerts');
      v.page.on('request', (r) => its(r) && (underway.add(r), asked.push(r.url())));
      v.page.on('requestfinished', (r) => void underway.delete(r));
      v.page.on('requestfailed', (r) => void underway.delete(r));
      v.page.on('websocket', (ws) => ws.on('framereceived', (f) => void (String(f.payload).includes('"alert.resolved"') && ended++)));
    }
    await v.page.goto(path);
    await v.page.getByText('Live', { exact: true }).first().waitFor();
  }
  [alerts, wall] = more.map((v) => v.page) as [typeof page, typeof page];
  for (const [name, p] of Object.entries({ overview: page, alerts, wall })) {
    // What a page gives up by itself, as the line of a card that nobody sees any more, has not failed.
    p.on('requestfailed', (r) => r.failure()?.errorText !== 'net::ERR_ABORTED' && failed.push(`${name}: ${r.url()} ${r.failure()?.errorText}`));
  }
});
afterAll(async () => {
  for (const v of more) await v.leave();
});

/** shown is what the three pages say. */
const shown = async () => ({
  headlines: [await page.locator('h1').innerText(), await wall.locator('h1').innerText()],
  figures: numbers((await page.locator('[aria-label="Key figures"] > *').evaluateAll((all) => all.slice(2).map((e) => (e as HTMLElement).innerText))).join(' ')),
  alerts: numbers(await alerts.getByText(/^[\d,]+ alerts?$/).first().innerText()),
  listed: await alerts.locator('[data-alert]').count(),
});

/** said is what they should say by the API. */
async function said(headline: string) {
  const sum = (await api.send('GET', '/v1/devices/health/summary')).data;
  const { pagination } = (await api.send('GET', '/v1/alerts?status=active&per_page=1')).data;
  expect(pagination.total).toBe(sum.active_alerts);
  return {
    headlines: [headline.replace(/\.$/, ', and nobody would be told.'), headline], // there is no channel
    figures: [sum.online_devices, sum.total_devices, ...[sum.offline_devices, sum.active_alerts].filter((n, i) => n || i)].concat([sum.critical_alerts, sum.warning_alerts].filter(Boolean)),
    alerts: [pagination.total],
    listed: Math.min(500, pagination.total),
  };
}

async function agree(headline: string) {
  await expect.poll(async () => {
    const [x, y] = [await shown(), await said(headline)] as Record<string, unknown>[];
    return Object.keys(y!).filter((k) => JSON.stringify(x![k]) !== JSON.stringify(y![k])).map((k) => `${k}: page ${JSON.stringify(x![k])}, API ${JSON.stringify(y![k])}`);
  }).toEqual([]);
  for (const v of more) await v.quiet(headline);
  expect(failed).toEqual([]);
}

/** rested waits until the page of alerts, whose clock may stand, has nothing under way: what follows from an answer is asked for before the next one comes. */
const rested = () =>
  expect
    .poll(async () => {
      const n = asked.length;
      await alerts.evaluate(() => fetch('/readyz').then((r) => r.text()));
      return asked.length - n + underway.size;
    })
    .toBe(0);

async function back() {
  await api.import(csv(86_400));
  await report();
}

it('a chain falls silent and comes back', async () => {
  const fine = `Everything is fine (${size} devices).`;
  await alerts.clock.resume(); // after a try before
  await back();
  await agree(fine);
  await wall.getByText('100.0 % in limits over 24 h').waitFor();

  await api.import(csv(10));
  await agree(`All ${size} devices are offline.`);
  await wall.getByText('Current temperatures unknown').waitFor();
  expect(await wall.getByText('in limits').count()).toBe(0);

  // While its clock stands, the page of alerts hears the news and is not to ask for a single one.
  await alerts.locator('[data-alert]').first().waitFor();
  // It must not jump so far that the page takes itself for a laptop that slept: that connects anew and asks for what it missed.
  await alerts.clock.pauseAt(await alerts.evaluate(() => Date.now() + 30_000));
  await rested(); // it has asked by now what it asks by the timers that this ended, of every page of its list
  const [before, already] = [asked.length, ended];
  await back();
  await expect.poll(() => ended - already).toBeGreaterThanOrEqual(size);
  await rested(); // it has done by now what it does at once
  expect(asked.slice(before)).toEqual([]);
  await alerts.clock.resume();
  await agree(fine);
  await alerts.getByText('Nothing needs your attention').waitFor();
  await wall.getByText('100.0 % in limits over 24 h').waitFor();
});
