// The phone in the cold room, where no network comes: the app opens, shows what was
// last known and how old it is, and is up to date again by itself.
import type { Browser, Page } from 'playwright-core';
import { untidy } from '../scripts/layout.mjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, none, phone, Visitor } from './browser';
import { gate } from './gate';
import { Line } from './line';
import { Api, Office, Server } from './server';

let server: Server;
let browser: Browser;
let line: Line;
let visitor: Visitor;
let page: Page;
let api: Api;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  line = await Line.to(server.url);
  const office = new Office(server.url);
  const owner = await office.open(server.code);
  api = new Api(server.url, await office.token());
  for (const n of [1, 2]) {
    await api.send('POST', '/v1/devices', { serial: `WIC-${n}`, name: `Walk-in ${n}`, equipment_type: 'walkin_cooler', offline_after_s: 86_400 });
    await api.send('POST', '/v1/readings', { device_serial: `WIC-${n}`, product_zone_temp: 3 + n });
  }
  visitor = await Visitor.arrive(browser, line, phone, { serviceWorkers: 'allow' });
  page = visitor.page;
  await visitor.signIn(owner.email, owner.password);
});
afterAll(async () => {
  await browser?.close();
  line?.close();
  await server?.stop();
});

/** hourLater cuts the network, and has all that was kept be an hour old. */
async function hourLater() {
  visitor.cutOff = true;
  line.break();
  await page.evaluate(async () => {
    const cache = await caches.open('values');
    for (const request of await cache.keys()) {
      const had = await (await cache.match(request))!.json();
      await cache.put(request, new Response(JSON.stringify({ ...had, at: had.at - 3_600_000 })));
    }
  });
}

it('opens without the server, with what was last known and how old it is', async () => {
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.goto('/devices/WIC-1');
  await expect.poll(() => visitor.kept('device wic-1')).toContain('Walk-in 1');
  await page.goto('/');
  await page.getByText('Walk-in 2').first().waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.evaluate(() => dispatchEvent(new Event('pagehide'))); // as when the phone is put away
  await expect.poll(() => visitor.kept('fleet')).toContain('Walk-in 2');

  await hourLater();
  await page.reload();
  await page.getByText(/values from \d\d:\d\d$/).waitFor();
  await page.getByText('5.0').first().waitFor();
  expect(await page.getByText('Offline', { exact: true }).count()).toBe(0); // nothing is said of the fridges
  expect(await page.getByText(/^All 2 devices are offline/).count()).toBe(0);
  await page.getByRole('heading', { name: /^As of \d\d:\d\d: Everything is fine \(2 devices\), and nobody would be told\.$/ }).waitFor();
  await visitor.fine('without the server');
  none(await page.evaluate(untidy), 'without the server: what does not fit');
});

it('knows the pages of devices that were looked at', async () => {
  await page.goto('/devices/WIC-1');
  await page.getByRole('heading', { name: 'Walk-in 1' }).waitFor();
  await page.getByText(/^As of \d\d:\d\d: 4\.0\D*within its limits\.$/).waitFor();
  await page.getByText(/values from \d\d:\d\d$/).waitFor();
});

it('loads by itself what it could not when the server is back', async () => {
  await page.goto('/alerts');
  await page.getByRole('heading', { name: /^As of \d\d:\d\d: Nothing needs your attention$/ }).waitFor();
  await page.goto('/alerts?status=resolved');
  await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor();
  line.cut = false;
  await page.getByText('No alerts yet').waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.goto('/');
  await api.send('POST', '/v1/readings', { device_serial: 'WIC-2', product_zone_temp: 4.4 });
  await page.getByText('4.4').first().waitFor();
  await visitor.quiet('the server is back');
  visitor.cutOff = false;
});

it('lists the alerts that were active, and says how old that is', async () => {
  await api.send('POST', '/v1/devices', { serial: 'WIC-3', name: 'Walk-in 3', equipment_type: 'walkin_cooler', offline_after_s: 86_400 });
  await api.history('WIC-3', Array.from({ length: 90 }, () => 12));
  await page.goto('/');
  await page.getByText(/too warm/).first().waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.evaluate(() => dispatchEvent(new Event('pagehide')));
  await expect.poll(() => visitor.kept('fleet')).toContain('high_temperature');
  await hourLater();
  await page.goto('/alerts');
  const row = page.locator('[data-alert]');
  await row.waitFor();
  expect(await row.count()).toBe(1);
  await page.getByText(/^Not connected. What you see is from \d\d:\d\d and is updated by itself.$/).waitFor();
  await visitor.fine('the alerts without the server');
  await row.click();
  await page.getByRole('heading', { name: 'Walk-in 3' }).waitFor();
  await page.getByRole('article', { name: /too warm/i }).first().waitFor();
  await visitor.fine('an alert without the server');
  await page.goto('/alerts?severity=warning&device=WIC-1');
  await page.getByText('No matching alerts').waitFor();
  line.cut = false;
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.goto('/');
  await page.getByText('Live', { exact: true }).first().waitFor();
  await visitor.settled();
  await visitor.quiet('the server is back');
  visitor.cutOff = false;
});

it('opens where the network swallows everything, too, and leaves what it shows where it is', async () => {
  await api.send('POST', '/v1/readings', { device_serial: 'WAITS-1', product_zone_temp: 3 }); // nobody has registered it
  await page.goto('/');
  const waits = page.getByText('1 new device is waiting to be accepted');
  await waits.waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await page.evaluate(() => dispatchEvent(new Event('pagehide')));
  await expect.poll(() => visitor.kept('waiting')).toMatch(/"data":1\D/);
  const sources = gate();
  await page.route('**/api/v1/sources', (route) => sources.passed.then(() => route.continue()));
  visitor.cutOff = true; // connections that are given up
  line.swallow();
  await page.reload({ waitUntil: 'commit' });
  await page.getByText(/^Reconnecting, values from \d\d:\d\d$/).waitFor();
  await page.getByText('Walk-in 3').first().waitFor();
  await waits.waitFor();
  line.deliver();
  await page.getByText('Live', { exact: true }).first().waitFor();
  await visitor.drawn();
  expect(await waits.count()).toBe(1); // whatever the server has still to say of them
  expect(await page.locator('[aria-busy=true]').count()).toBe(0);
  expect(await visitor.shift(), 'layout shift').toBeLessThan(0.05);
  sources.open();
  await visitor.settled();
  await visitor.quiet('the server is back');
  visitor.cutOff = false;
});

it('forgets what it knew when somebody signs out', async () => {
  await page.getByLabel('Account menu').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(/sign-in/);
  await expect.poll(() => page.evaluate(() => caches.has('values'))).toBe(false);
  await visitor.leave();
});
