// The page says what is so: of defrosts and rises that nobody is alerted of, of an
// alert that is over, of a single reading.
import { beforeAll, describe, expect, it } from 'vitest';
import { desktop, phone, Visitor } from './browser';
import { gate } from './gate';
import { noon, openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ timezone: noon() });
beforeAll(() => ({ api, page, visitor } = shop));

const device = (serial: string, name: string, more = {}) => api.send('POST', '/v1/devices', { serial, name, equipment_type: 'walkin_freezer', offline_after_s: 86_400, ...more });
const tile = (name: string) => page.getByRole('list', { name: 'Devices' }).getByRole('listitem').filter({ hasText: name });

describe('what nobody is alerted of', () => {
  it('waits for the first reading, and shows it as a point', async () => {
    await device('NEW-1', 'New freezer');
    await page.goto('/');
    await page.getByRole('heading', { name: 'Waiting for the first reading' }).waitFor();
    await tile('New freezer').getByText('Never reported').waitFor();
    await api.send('POST', '/v1/readings', { device_serial: 'NEW-1', product_zone_temp: -20 });
    await page.getByRole('heading', { name: 'Everything is fine (1 device)' }).waitFor();
    await page.goto('/devices/NEW-1');
    const chart = page.getByRole('region', { name: 'Product zone' }).locator('canvas');
    await chart.waitFor();
    // The ink of the line's colour: there is no line, so it is the point.
    const ink = () =>
      chart.evaluate((c: HTMLCanvasElement) => {
        const { data } = c.getContext('2d')!.getImageData(0, 0, c.width, c.height);
        let n = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3]! > 200 && data[i]! < 40 && data[i + 1]! < 60) n++;
        return n;
      });
    await expect.poll(ink).toBeGreaterThan(8);
  });

  it('is on the tile: above its limit, and when that is alerted', async () => {
    await device('WARM-1', 'Warm freezer');
    await api.history('WARM-1', [...Array.from({ length: 10 }, () => -20), ...Array.from({ length: 13 }, () => -13)]);
    const zone = (await api.send('GET', '/v1/devices/WARM-1')).data.device.zone;
    expect(Date.parse(zone.alert_at) - Date.parse(zone.out_of_limits_since)).toBe(3_600_000);
    await page.goto('/');
    await tile('Warm freezer').getByText(/^above limit 1\d\smin, alert at 60$/i).waitFor();
    await tile('Warm freezer').getByText('Above limit', { exact: true }).waitFor();
    expect(await tile('Warm freezer').getByText('OK', { exact: true }).count()).toBe(0);
    await visitor.fine('a tile above its limit');
    await page.goto('/devices/WARM-1');
    await page.getByText(/above limit 1\d\smin, alert at 60. Limit −15/).waitFor();
    await page.locator('main header').getByText('Above limit', { exact: true }).waitFor();
    await page.getByText(/None longer than the alarm delay/).waitFor();
    // The share of a day that it has not been here for is no span.
    await page.goto('/devices/WARM-1?range=6h');
    await page.getByText(/None longer than the alarm delay/).waitFor();
    expect(await page.getByText(/In the last 24 h it was out/).count()).toBe(0);
  });

  it('is on the tile: a defrost', async () => {
    await device('DEF-1', 'Defrosting freezer');
    await api.history('DEF-1', Array.from({ length: 10 }, () => -20));
    await api.send('POST', '/v1/readings', { device_serial: 'DEF-1', product_zone_temp: -14, defrost_active: true });
    await page.goto('/');
    await tile('Defrosting freezer').getByText('Defrosting', { exact: true }).first().waitFor();
  });
});

describe('a maintenance window', () => {
  it('names its device, which is not told by its serial while the fleet loads', async () => {
    await device('SERVED-1', 'Freezer that is cleaned');
    await shop.office.send('POST', '/v1/maintenance-windows', { device_serials: ['SERVED-1'], ends_at: new Date(Date.now() + 3_600_000).toISOString(), reason: 'Cleaning' });
    const devices = gate();
    await page.route((url) => url.pathname === '/api/v1/devices', (route) => devices.passed.then(() => route.continue()));
    await page.goto('/settings/quiet');
    const row = page.getByRole('listitem').filter({ hasText: 'Cleaning' });
    await row.waitFor();
    expect(await row.innerText()).not.toContain('SERVED-1');
    devices.open();
    await row.getByText('Freezer that is cleaned').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});

describe('a clock that is wrong', () => {
  it('is said on the tile and beside an alert', async () => {
    await device('AHEAD-1', 'Freezer of tomorrow', { limits: { delay_s: 0 } });
    await api.send('POST', '/v1/readings', { device_serial: 'AHEAD-1', recorded_at: new Date(Date.now() + 4 * 60_000).toISOString(), product_zone_temp: -20 });
    await page.goto('/');
    await tile('Freezer of tomorrow').getByText(/^Clock [34]\smin .*ahead$/).waitFor();
    await api.settled('AHEAD-1', -9, { recorded_at: () => new Date(Date.now() + 4 * 60_000).toISOString() });
    const { alerts } = (await api.send('GET', '/v1/alerts?device_serial=AHEAD-1')).data;
    await page.goto(`/alerts/${alerts[0].id}`);
    await page.getByText(/^Its clock is [34]\smin .*ahead\.$/).waitFor();
    await page.getByText(/^The product zone is at −9\s°C, above its limit of −15\s°C\./).waitFor(); // there is no span to name yet
    await visitor.fine('an alert of a device whose clock is ahead');
    await page.goto('/reports?site=all');
    await page.getByRole('region', { name: 'Freezer of tomorrow' }).getByText(/^Its clock is [34]\smin .*ahead\. This log keeps the times that the device sent\.$/).waitFor();
    await visitor.fine('the log of a device whose clock is ahead');
  });
});

describe('what is wrong', () => {
  it('comes first on a phone, the figures first on a desktop', async () => {
    const [wrong, figures] = [page.getByRole('region', { name: /^Needs attention/ }), page.getByRole('region', { name: 'Key figures' })];
    const top = async (part: typeof wrong) => (await part.boundingBox())!.y;
    await page.goto('/');
    await wrong.waitFor();
    await expect.poll(async () => (await top(figures)) < (await top(wrong))).toBe(true);
    await page.setViewportSize(phone);
    await page.reload();
    await expect.poll(async () => (await top(wrong)) < (await top(figures))).toBe(true);
    await visitor.fine('the overview on a phone');
    await page.setViewportSize(desktop);
  });
});

describe('a compressor whose load varies by itself', () => {
  it('is not judged, instead of as usual', async () => {
    await device('INV-1', 'Inverter freezer');
    await api.history('INV-1', Array.from({ length: 10 }, () => -20));
    await page.route('**/devices/INV-1/prediction', async (route) => {
      const answer = await (await route.fetch()).json();
      Object.assign(answer.data.prediction, { state: 'not_judged', what_would_change_it: 'Not judged: the compressor varies its speed or load.' });
      await route.fulfill({ json: answer });
    });
    await page.goto('/devices/INV-1');
    const card = page.getByRole('region', { name: 'Failure prediction' });
    await card.getByText('Not judged: the compressor varies its speed or load.').waitFor();
    expect(await card.getByText(/as usual/).count()).toBe(0);
  });
});

describe('an alert that is over', () => {
  it('shows its peak and its span, not the present value', async () => {
    await device('HOT-1', 'Hot freezer', { limits: { clear_s: 0 } });
    await api.history('HOT-1', [...Array.from({ length: 5 }, () => -20), ...Array.from({ length: 70 }, (_, i) => (i === 40 ? -7.5 : -10))]);
    await page.goto('/alerts');
    await page.locator('[data-alert]').filter({ hasText: 'Hot freezer' }).first().click();
    const evidence = page.getByRole('list', { name: 'Evidence' });
    await evidence.getByText('−10.0\u202f°C').waitFor();
    await evidence.getByRole('img', { name: /−10.0.*now, −7.5.*peak, limit −12/ }).waitFor();
    await visitor.fine('an alert');
    const id = new URL(page.url()).pathname.split('/').at(-1);
    await api.settled('HOT-1', -19);
    await expect.poll(async () => (await api.send('GET', `/v1/alerts/${id}`)).data.alert.status).toBe('resolved');
    const card = page.getByRole('article', { name: /Too warm/ }).last();
    await card.getByText(/from \d+ \w+, \d\d:\d\d/).waitFor();
    await card.getByText('peak −7.5', { exact: false }).waitFor();
    expect(await card.getByText('−19').count()).toBe(0);
    await visitor.fine('an alert that is over');
  });
});

describe('the report', () => {
  it('separates time in defrosts and is red for excursions alone', async () => {
    await device('LOG-1', 'Logged freezer');
    const now = Date.now();
    await api.send('POST', '/v1/readings/batch', {
      readings: Array.from({ length: 40 }, (_, i) => {
        const warm = i >= 10 && i < 30;
        return { device_serial: 'LOG-1', recorded_at: new Date(now - (40 - i) * 60_000).toISOString(), product_zone_temp: warm ? -12 : -20, defrost_active: warm };
      }),
    });
    const v = await Visitor.arrive(shop.browser, shop.server, phone);
    await v.signIn(shop.owner.email, shop.owner.password);
    await v.page.goto('/reports');
    const part = v.page.getByRole('region', { name: 'Logged freezer' });
    await part.locator('dt', { hasText: 'in defrosts' }).waitFor();
    const { report } = (await api.send('GET', '/v1/reports/temperature-log?device_serial=LOG-1')).data;
    expect(report.devices[0]).toMatchObject({ in_defrosts_s: 1200, out_of_range_s: 1200, excursions: [] });
    await expect.poll(() => part.getByText('20 min').count()).toBeGreaterThanOrEqual(2);
    expect(await part.locator('.text-critical').count()).toBe(0);
    await v.fine('a report with defrosts');
    await v.leave();
  });

  it('says what late readings show, and what was done about it', async () => {
    await device('LATE-1', 'Late freezer');
    const now = Date.now();
    const reading = (ago: number, warm: boolean) => ({ device_serial: 'LATE-1', recorded_at: new Date(now - ago * 60_000).toISOString(), product_zone_temp: warm ? -4 : -20 });
    await api.send('POST', '/v1/readings', reading(0, false));
    await api.send('POST', '/v1/readings/batch', { readings: Array.from({ length: 180 }, (_, i) => reading(180 - i, i >= 30 && i < 150)) });
    await expect.poll(async () => (await api.send('GET', '/v1/excursions?device_serial=LATE-1')).data.excursions.length).toBe(1);
    await page.goto('/devices/LATE-1');
    const box = page.locator('.card-box', { has: page.getByRole('heading', { name: 'Excursions in the last 30 days' }) });
    await box.getByText(/for 2\sh: up to −4/).waitFor();
    await box.getByText(/Found or corrected afterwards/).waitFor();
    await page.getByRole('img', { name: /History: .*Warning \d+ %/ }).waitFor();
    await box.getByRole('link', { name: /^Case \d+$/ }).click();
    await page.getByRole('heading', { name: 'Late freezer', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What was done').fill('Looked at the core of the goods');
    await dialog.getByLabel('Cause', { exact: true }).fill('Door not shut');
    await dialog.getByLabel('What became of the product').selectOption({ index: 1 });
    await visitor.fine('what was done about an excursion that was found late');
    await dialog.getByRole('button', { name: 'Record' }).click();
    await page.getByText('Looked at the core of the goods').waitFor();
    await visitor.fine('the case of an excursion that was found late');
    await page.goto('/reports');
    const part = page.getByRole('region', { name: 'Late freezer' });
    await part.getByText('Looked at the core of the goods').waitFor();
    await part.getByText(/Found or corrected afterwards/).waitFor();
    expect(await part.getByText('No corrective action recorded.').count()).toBe(0);
  });
});
