// The five main paths in Firefox, over WebDriver BiDi: sign in and see the fleet, read a
// device's charts, acknowledge an alert, change a device, compare.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { firefox, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { phone } from './browser';
import { patience } from './patience';
import { Api, Office, Server } from './server';

const executablePath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const least = 153; // older ones lack commands that Playwright sends
const version = existsSync(executablePath) ? Number(/\d+/.exec(execFileSync(executablePath, ['--version'], { encoding: 'utf8' }))?.[0]) : 0;
const there = version >= least;
if (!there) console.warn(`The tests in Firefox are skipped: ${executablePath} is ${version ? `version ${String(version)}` : 'not there'}, and they need ${String(least)} (apt-get install firefox-esr).`);

// Firefox has no command by which it pretends to be dark or light, and Playwright sends it to every page: it is answered here.
const missing = 'emulation.setMediaFeaturesOverride';
const { ws: Socket } = createRequire(import.meta.url)('playwright-core/lib/utilsBundle') as { ws: typeof import('node:events').EventEmitter & { prototype: { send: (text: string) => void } } };
const send = Socket.prototype.send;
Socket.prototype.send = function (this: InstanceType<typeof Socket>, text: string) {
  const { id, method } = JSON.parse(text) as { id: number; method: string };
  if (method === missing) queueMicrotask(() => this.emit('message', Buffer.from(JSON.stringify({ type: 'success', id, result: {} })), false));
  else send.call(this, text);
};

describe.skipIf(!there)('Firefox', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  let api: Api;
  const wrong: string[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([Server.start(), firefox.launch({ channel: 'moz-firefox', executablePath, timeout: patience })]);
    const office = new Office(server.url);
    const owner = await office.open(server.code);
    api = new Api(server.url, await office.token());
    for (const [serial, temp] of [['WIF-1', -12.6], ['WIF-2', -19]] as const) {
      await api.send('POST', '/v1/devices', { serial, name: serial === 'WIF-1' ? 'Back walk-in' : 'Front walk-in', equipment_type: 'walkin_freezer', offline_after_s: 86_400 });
      await api.history(serial, Array.from({ length: 90 }, (_, i) => (i < 10 ? -19 : temp)));
    }
    const context = await browser.newContext({ viewport: phone, baseURL: server.url });
    context.setDefaultTimeout(patience);
    page = await context.newPage();
    page.on('pageerror', (e) => wrong.push(e.message));
    await page.goto('/sign-in');
    await page.getByLabel('E-mail').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  it('shows the fleet, live', async () => {
    await page.getByRole('heading', { name: '1 of 2 needs attention' }).waitFor();
    await api.send('POST', '/v1/readings', { device_serial: 'WIF-2', product_zone_temp: -18.3 });
    await page.getByText('−18.3').first().waitFor();
  });

  it('draws the charts of a device', async () => {
    await page.goto('/devices/WIF-1');
    await page.getByRole('region', { name: 'Product zone' }).locator('canvas').waitFor();
    await page.getByText(/too warm for/).first().waitFor();
  });

  it('acknowledges an alert from the list', async () => {
    await page.goto('/alerts');
    await page.getByRole('button', { name: /^Acknowledge/ }).first().click();
    await expect.poll(async () => (await api.send('GET', '/v1/alerts')).data.alerts[0].acknowledged_by).toBe('Ada');
  });

  it('changes a device', async () => {
    await page.goto('/devices/WIF-2');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Fish freezer');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Fish freezer' }).waitFor();
  });

  it('compares two of them', async () => {
    await page.goto('/compare?devices=WIF-1,WIF-2');
    await page.getByRole('row', { name: /^Fish freezer/ }).waitFor();
    await page.locator('canvas').first().waitFor();
    expect(wrong).toEqual([]);
  });
});
