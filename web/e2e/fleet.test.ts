// A larger fleet: what nobody judges is seen, large reports are made in the
// background, and the overview asks for what is on the screen.
import { beforeAll, describe, expect, it } from 'vitest';
import { gate } from './gate';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ fill: ({ office }) => office.send('POST', '/v1/sites', { name: 'Market Hall', timezone: 'Europe/Berlin' }) });
beforeAll(() => ({ api, page, visitor } = shop));

const dialog = () => page.getByRole('dialog');

describe('what nobody judges', () => {
  it('is warned of before it is imported, and corrected', async () => {
    await page.goto('/settings/devices');
    await page.getByRole('button', { name: 'Import CSV' }).first().click();
    const csv = 'serial,name,equipment_type,site,offline_after_s\nWIC-1,Back cooler,walkin_coolr,Market Hall,86400\nWIC-2,Odd thing,spaceship,,86400\n';
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
    await page.getByRole('heading', { name: '1 of 2 is not judged: nobody is alerted' }).waitFor();
    await expect.poll(() => page.getByText('Nobody is alerted: choose its type or set limits.').count()).toBe(1);
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

describe('limits', () => {
  it('on both sides, and every delay, are set on the device', async () => {
    await page.goto('/devices/WIC-1');
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Critical below').fill('-1.5');
    await dialog().getByLabel('Alert when too cold for').fill('15');
    await dialog().getByLabel('Critical after').fill('60');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await dialog().waitFor({ state: 'detached' });
    expect((await api.send('GET', '/v1/devices/WIC-1')).data.device.limits).toMatchObject({ critical_min: -1.5, low_delay_s: 900, critical_delay_s: 3600, temp_max: 5, source: 'device' });
  });
});

describe('the connection', () => {
  it('comes back by itself, and never speaks like a dead fridge', async () => {
    visitor.cutOff = true;
    await page.route('**/api/v1/policies', (r) => r.abort());
    await page.goto('/policies');
    await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor();
    await page.unroute('**/api/v1/policies');
    await page.getByRole('heading', { name: /privacy/i }).first().waitFor();
    await page.goto('/');
    await page.getByText('Live', { exact: true }).first().waitFor();
    await page.context().setOffline(true);
    await page.getByText(/^Not connected, values from .*\d\d:\d\d$/).waitFor();
    expect(await page.getByRole('status').getByText('Offline').count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByText('Live', { exact: true }).first().waitFor();
    await visitor.quiet('a connection that came back');
    visitor.cutOff = false;
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
    await expect.poll(() => page.getByLabel('Site').inputValue()).not.toBe('all');
  });

  it('is made in the background', async () => {
    await visitor.refused('GET', '/api/v1/reports/temperature-log', 422, () => page.getByLabel('Site').selectOption('all'));
    await page.getByRole('heading', { name: 'This log is made in the background' }).waitFor();
    await visitor.fine('a report that is too large to show');
    await page.getByRole('button', { name: 'Make a CSV' }).click();
    const link = page.getByRole('link', { name: 'Download' });
    await link.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).toMatch(/^temperature-log-.*\.csv$/);
  });
});

describe('six hundred devices', () => {
  it('are searched for the one that maintenance is planned for', async () => {
    await page.goto('/settings/quiet');
    await page.getByRole('button', { name: 'Plan one' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Devices').fill('unit 599');
    await dialog.getByRole('list', { name: 'Matching devices' }).getByRole('button', { name: /^Unit 599/ }).click();
    await dialog.getByRole('button', { name: 'Remove Unit 599' }).waitFor();
    await visitor.fine('a device chosen of many');
    await dialog.getByLabel('Why').fill('New gasket');
    await visitor.answered('POST', '/api/v1/maintenance-windows', () => dialog.getByRole('button', { name: 'Plan', exact: true }).click());
    await dialog.waitFor({ state: 'detached' });
    await page.locator('main').getByText('Unit 599').waitFor();
  });

  it('have more labels than a page takes, which it says', async () => {
    await page.goto('/labels');
    await page.getByText(/^600 labels, 25 sheets\. These are the first of 602: choose a site\./).waitFor();
  });
});

describe('the overview', () => {
  it('says how the whole fleet is before all of it is here', async () => {
    const first = page.waitForResponse((r) => r.url().includes('attention=true'));
    // All devices come later than the screen is ready: here, not before it was looked at.
    const looked = gate();
    await page.route(/per_page=1000/, (route) => looked.passed.then(() => route.continue()));
    await page.goto('/');
    await first;
    const { conditions, total_devices } = (await api.send('GET', '/v1/devices/health/summary')).data;
    expect(conditions).toEqual({ critical: 0, warning: 0, predicted: 0, offline: 600, unjudged: 1, ok: 1 });
    await page.getByRole('heading', { name: `${total_devices - conditions.ok} of ${total_devices} need attention` }).waitFor();
    await page.getByRole('button', { name: `Offline ${conditions.offline}` }).waitFor();
    looked.open();
    await page.getByRole('button', { name: /^OK 1$/ }).click();
    await expect.poll(() => page.getByRole('list', { name: 'Devices' }).getByRole('listitem').count()).toBe(1);
    await page.unroute(/per_page=1000/);
    // What is filtered is what the headline counts.
    await page.goto('/?q=back');
    await page.getByRole('heading', { name: 'Everything is fine (1 device)' }).waitFor();
  });
});
