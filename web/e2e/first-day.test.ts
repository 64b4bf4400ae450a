// The first day of a new owner, in one browser: set-up, token, first reading,
// first alert, acknowledged, resolved. Nothing is reloaded on the way.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, Visitor } from './browser';
import { Api, Server } from './server';

let server: Server;
let browser: Browser;
let owner: Visitor;
let api: Api;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  owner = await Visitor.arrive(browser, server);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe('the first day', () => {
  it('sets the server up with the code of its log', async () => {
    const { page } = owner;
    await page.goto('/');
    await page.getByRole('heading', { name: 'Set up Rimewatch' }).waitFor();
    await owner.fine('set-up');
    await page.getByLabel('One-time code').fill(server.code);
    await page.getByLabel('Workspace').fill('Corner Shop');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Password').fill('a walk-in at three');
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.waitForURL(server.url + '/w/corner-shop/');
    await owner.fine('an empty overview');
  });

  it('makes a token, shows it once, and sees the first reading arrive', async () => {
    const { page } = owner;
    await page.goto('/account/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Name').fill('Back room');
    await page.getByRole('radio', { name: /Full access/ }).check();
    await page.getByRole('button', { name: 'Create token' }).click();
    const plain = (await page.getByTestId('plain-token').textContent()) ?? '';
    expect(plain).toMatch(/^rw_[0-9A-Za-z]{38}$/);
    expect(await page.getByTestId('snippet').textContent()).toContain(`${server.url}/api/v1/readings`);
    await page.getByLabel('Device serial number').fill('WIF-0001');
    await page.getByRole('button', { name: 'Register device' }).click();
    await page.getByRole('button', { name: 'Register device' }).waitFor({ state: 'detached' });
    const waiting = page.getByTestId('first-reading');
    await expect.poll(() => waiting.textContent()).toContain('Waiting');
    await owner.fine('a new token');
    api = new Api(server.url, plain);
    expect((await api.send('POST', '/v1/readings', { device_serial: 'WIF-0001', product_zone_temp: -19.4 })).status).toBe(201);
    await expect.poll(() => waiting.textContent()).toContain('reported');
    await page.getByRole('button', { name: 'Done' }).click();
    await expect.poll(() => page.content()).not.toContain(plain);
  });

  it('shows a reading, an alert and its end as they happen', async () => {
    const { page } = owner;
    await owner.atOnce();
    await page.goto('/');
    await api.send('PATCH', '/v1/devices/WIF-0001', { name: 'Front freezer', equipment_type: 'walkin_freezer', offline_after_s: 86_400 });
    await page.getByText('Front freezer').first().waitFor();
    await api.send('POST', '/v1/readings', { device_serial: 'WIF-0001', product_zone_temp: -18.7 });
    await page.getByText('−18.7').first().waitFor();

    // An hour and more above −15 °C, told in order: the alert is due at once.
    await api.send('POST', '/v1/devices', { serial: 'WIF-0002', name: 'Back walk-in', equipment_type: 'walkin_freezer', offline_after_s: 86_400 });
    await api.history('WIF-0002', Array.from({ length: 75 }, () => -13.5));
    await page.getByText(/too warm/i).first().waitFor();
    await page.getByRole('link', { name: /Alerts/ }).first().click();
    const row = page.locator('[data-alert]').first();
    await row.waitFor();
    await expect.poll(() => row.textContent()).toContain('Back walk-in');
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await page.getByText('is dealing with this').waitFor();
    // Shown before the server has answered.
    await expect.poll(async () => (await api.send('GET', '/v1/alerts?type=high_temperature')).data.alerts[0].acknowledged_by).toBe('Ada');
    await owner.fine('an acknowledged alert');

    await page.getByRole('button', { name: 'Resolve', exact: true }).click();
    await page.getByRole('dialog').getByLabel(/Note/).fill('Door was open');
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('Nothing needs your attention').waitFor();
    await expect.poll(async () => (await api.send('GET', '/v1/alerts/counts')).data.by_status).toEqual({ active: 0, resolved: 1 });
    await owner.quiet('the first day');
  });
});
