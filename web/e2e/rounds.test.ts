// Rounds on a phone: twelve units are looked at in less than a minute of taps, also without a network, and whoever comes
// second stands beside the first.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { untidy } from '../scripts/layout.mjs';
import { launch, none, phone, Visitor } from './browser';
import { Line } from './line';
import { Api, Office, Server } from './server';

let server: Server;
let browser: Browser;
let line: Line;
let visitor: Visitor;
let page: Page;
let api: Api;

const everyDay = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  line = await Line.to(server.url);
  const office = new Office(server.url);
  const owner = await office.open(server.code);
  api = new Api(server.url, await office.token());
  for (let n = 1; n <= 12; n++) {
    await api.send('POST', '/v1/devices', { serial: `WIC-${n}`, name: `Walk-in ${n}`, equipment_type: 'walkin_cooler', offline_after_s: 86_400 });
    await api.send('POST', '/v1/readings', { device_serial: `WIC-${n}`, product_zone_temp: 2 + n / 10 });
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

const due = () => page.getByTestId('due');
/** looked loads the page anew and counts what is due once it says so. */
async function looked() {
  await page.reload();
  await due().or(page.getByText('Nothing is due now.')).first().waitFor();
  return due().count();
}

/** round makes a round that is due now, from the settings. */
async function round(name: string) {
  await page.goto('/settings/rounds');
  await page.getByRole('button', { name: 'Add round' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Start from').selectOption('');
  await page.getByLabel('From', { exact: true }).fill('00:00');
  await page.getByLabel('To', { exact: true }).fill('00:00');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(name).first().waitFor();
}

it('twelve units are looked at in less than a minute', async () => {
  await round('All day');
  await page.goto('/rounds');
  await expect.poll(looked).toBe(1);
  none(await page.evaluate(untidy), 'a check that is due: what does not fit');
  const began = Date.now();
  for (let n = 1; n <= 12; n++) await page.getByRole('button', { name: `Confirm Walk-in ${n}`, exact: true }).click();
  await page.getByRole('button', { name: 'Complete' }).click();
  await page.getByText('Nothing is due now.').waitFor();
  expect(Date.now() - began).toBeLessThan(60_000);
  await page.locator('summary').first().click();
  await page.getByText('Completed').nth(1).waitFor();
  await visitor.fine('the rounds');
});

it('without a network it is kept, and sent when there is one again', async () => {
  await round('Again');
  await page.goto('/rounds');
  await expect.poll(looked).toBe(1);
  await expect.poll(() => visitor.kept('rounds')).toContain('Again');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  visitor.cutOff = true;
  line.break();
  await page.goto('/rounds');
  await page.getByTestId('offline').waitFor();
  await page.getByRole('button', { name: 'All 12 as shown' }).click();
  await page.getByTestId('queued').getByText('waiting to be sent').waitFor();
  await expect.poll(() => due().count()).toBe(0);
  await page.goto('/rounds'); // as when the app was closed
  await page.getByTestId('queued').waitFor();
  line.cut = false;
  visitor.cutOff = false;
  await expect.poll(async () => (await page.reload(), page.getByTestId('queued').count()), { timeout: 60_000 }).toBe(0);
  await page.getByText('Nothing is due now.').waitFor();
});
