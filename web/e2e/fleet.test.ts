// A larger fleet: what nobody judges is seen, large reports are made in the
// background, and the overview asks for what is on the screen.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launch, Visitor } from './browser';
import { Api, Office, Server } from './server';

let server: Server;
let browser: Browser;
let visitor: Visitor;
let page: Visitor['page'];
let api: Api;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  const office = new Office(server.url);
  const owner = await office.open(server.code);
  api = new Api(server.url, await office.token());
  await office.send('POST', '/v1/sites', { name: 'Market Hall', timezone: 'Europe/Berlin' });
  visitor = await Visitor.arrive(browser, server);
  page = visitor.page;
  await visitor.signIn(owner.email, owner.password);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
afterEach(({ task }) => visitor.quiet(task.name));

const dialog = () => page.getByRole('dialog');

describe('what nobody judges', () => {
  it('is warned of before it is imported, and corrected', async () => {
    await page.goto('/settings/devices');
    await page.getByRole('button', { name: 'Import CSV' }).first().click();
    const csv = 'serial,name,equipment_type,site\nWIC-1,Back cooler,walkin_coolr,Market Hall\nWIC-2,Odd thing,spaceship,\n';
    await dialog().getByLabel('CSV file').setInputFiles({ name: 'devices.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await dialog().getByText(/2 devices would not be judged/).waitFor();
    await visitor.fine('a warning of unknown types');
    await dialog().getByRole('button', { name: 'Use the known type' }).click();
    await dialog().getByText(/1 device would not be judged/).waitFor();
    await dialog().getByRole('button', { name: 'Import 2 devices' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect((await api.send('GET', '/v1/devices/WIC-1')).data.device).toMatchObject({ equipment_type: 'walkin_cooler', site: { name: 'Market Hall' } });
  });

  it('is never green', async () => {
    await api.send('POST', '/v1/readings', { device_serial: 'WIC-1', product_zone_temp: 3 });
    await api.send('POST', '/v1/readings', { device_serial: 'WIC-2', product_zone_temp: 25 });
    await page.goto('/');
    await page.getByRole('heading', { name: '1 of 2 is not judged: nobody is alerted.' }).waitFor();
    expect(await page.getByText('Nobody is alerted: choose its type or set limits.').count()).toBe(1);
    await page.getByRole('button', { name: /Not judged 1/ }).click();
    await expect.poll(() => page.getByRole('list', { name: 'Devices' }).getByRole('listitem').count()).toBe(1);
    await expect.poll(async () => (await api.send('GET', '/v1/devices/health/summary')).data.unjudged_devices).toBe(1);
    await visitor.fine('a fleet with a device that is not judged');
    await page.goto('/devices/WIC-2');
    await page.getByRole('button', { name: 'Set its type and limits' }).waitFor();
    await page.getByText('None set').waitFor();
    await page.getByText('There is no score without limits').waitFor();
    expect(await page.getByText(/stayed within/).count()).toBe(0);
    expect((await api.send('GET', '/v1/devices/WIC-2')).data.device.health.score).toBeNull();
    await visitor.fine('a device that is not judged');
  });
});

describe('a log of more than five hundred devices', () => {
  beforeAll(async () => {
    const rows = Array.from({ length: 600 }, (_, i) => `S-${i},Unit ${i},walkin_cooler`);
    await api.import('serial,name,equipment_type\n' + rows.join('\n'));
  });

  it('begins with the first site', async () => {
    await page.goto('/reports');
    await page.getByRole('heading', { name: 'Back cooler' }).waitFor();
    expect(await page.getByLabel('Site').inputValue()).not.toBe('all');
  });

  it('is made in the background', async () => {
    await visitor.refused('GET', '/api/v1/reports/temperature-log', 422, () => page.getByLabel('Site').selectOption('all'));
    await page.getByText(/at most 500 devices/i).waitFor();
    await visitor.fine('a report that is too large to show');
    await page.getByRole('button', { name: 'Make a CSV' }).click();
    const link = page.getByRole('link', { name: 'Download' });
    await link.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).toMatch(/^temperature-log-.*\.csv$/);
  });
});
