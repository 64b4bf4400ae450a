// A fleet by label and as a table, and two of its units on one chart.
import { beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ fill });
beforeAll(() => ({ api, page, visitor } = shop));

async function fill({ api }: Shop) {
  const temps = [3.1, 4.2, 12.5];
  for (let n = 1; n <= 30; n++) {
    await api.send('POST', '/v1/devices', {
      serial: `WIC-${n}`, name: `Walk-in ${n}`, equipment_type: n === 3 ? 'other' : 'walkin_cooler', offline_after_s: 86_400,
      ...(n <= 3 ? { labels: { aisle: n === 1 ? '1' : '2' } } : {}),
    });
    if (n <= 3) await api.history(`WIC-${n}`, Array.from({ length: 60 }, (_, i) => temps[n - 1]! + (i % 2) / 10));
  }
}

describe('a fleet', () => {
  it('is grouped by a label, and the address has it', async () => {
    await page.goto('/');
    await page.getByLabel('Group by').selectOption('aisle');
    const groups = page.getByRole('region', { name: /^aisle/ });
    await expect.poll(() => groups.getByRole('link').count()).toBe(3);
    await visitor.fine('groups by a label');
    await groups.getByRole('link', { name: /^2\b/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('label')).toBe('aisle:2');
    await expect.poll(() => page.getByRole('list', { name: 'Devices' }).getByRole('listitem').count()).toBe(2);
    const { data } = await api.send('GET', '/v1/devices?label.aisle=2');
    expect(data.devices.map((d: { labels: object }) => d.labels)).toEqual([{ aisle: '2' }, { aisle: '2' }]);
  });

  it('is a table, sorted by its columns', async () => {
    await page.goto('/?view=table');
    const rows = page.getByRole('table', { name: 'Devices' }).getByRole('row');
    await page.getByRole('button', { name: 'Device', exact: true }).click();
    await expect.poll(() => rows.nth(1).getByRole('rowheader').textContent()).toMatch(/^Walk-in 1\b/);
    await expect.poll(() => rows.nth(2).getByRole('rowheader').textContent()).toMatch(/^Walk-in 2\b/); // not 10
    await page.getByRole('button', { name: 'Temperature' }).click();
    await page.getByRole('button', { name: 'Temperature' }).click();
    await expect.poll(() => rows.nth(1).getByRole('rowheader').textContent()).toMatch(/^Walk-in 3\b/);
    await expect.poll(() => page.getByRole('columnheader', { name: 'Temperature' }).getAttribute('aria-sort')).toBe('descending');
    await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('-temp');
    await visitor.fine('the table');
  });
});

describe('units', () => {
  it('are chosen in the table, and stand on one chart', async () => {
    await page.getByRole('checkbox', { name: 'Compare Walk-in 3' }).check();
    await page.getByText('Choose another one to compare').waitFor();
    await page.getByRole('checkbox', { name: 'Compare Walk-in 1', exact: true }).check();
    await page.getByText('2 devices chosen').waitFor();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'Compare' }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('devices')).toBe('WIC-3,WIC-1');
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}\\b`) });
    await row('Walk-in 3').waitFor();
    // What the page says is what the API says.
    const now = Date.now();
    const day = `from=${new Date(now - 86_400_000).toISOString()}&to=${new Date(now).toISOString()}`;
    const { data } = await api.send('GET', `/v1/devices/WIC-3/readings?${day}&step=raw`);
    const temps = data.readings.map((r: { product_zone_temp: number }) => r.product_zone_temp);
    await expect.poll(() => row('Walk-in 3').textContent()).toContain(Math.max(...temps).toFixed(1));
    await expect.poll(() => row('Walk-in 1').textContent()).toContain('3.2'); // its highest
    await visitor.fine('two units on one chart');
  });

  it('are added and taken away', async () => {
    await page.getByLabel('Add a device to compare').fill('walk-in 2');
    await page.getByRole('list', { name: 'Matching devices' }).getByRole('button').first().click();
    await page.getByRole('row', { name: /^Walk-in 2\b/ }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('devices')).toBe('WIC-3,WIC-1,WIC-2');
    await page.getByRole('button', { name: 'Remove Walk-in 3' }).click();
    await page.getByRole('row', { name: /^Walk-in 3\b/ }).waitFor({ state: 'detached' });
    await expect.poll(() => new URL(page.url()).searchParams.get('devices')).toBe('WIC-1,WIC-2');
  });

  it('are reached from the page of one', async () => {
    await page.goto('/devices/WIC-2');
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('Add another device to compare.').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('devices')).toBe('WIC-2');
  });
});

describe('what was done', () => {
  it('is recorded by hand, marked on the chart and told below it', async () => {
    await page.goto('/devices/WIC-1');
    await page.getByRole('button', { name: 'Record work' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('What was done').fill('Condenser cleaned');
    await visitor.fine('recording work');
    await dialog.getByRole('button', { name: 'Record', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const list = page.getByRole('region', { name: 'What was done in this period' });
    await list.getByText('Condenser cleaned').waitFor();
    await page.getByRole('button', { name: /Condenser cleaned$/ }).click(); // the flag on the chart
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toMatch(/^mark-a/);
    const { corrective_actions: done } = (await api.send('GET', '/v1/devices/WIC-1/corrective-actions')).data;
    expect(done).toMatchObject([{ action: 'Condenser cleaned', performed_by: 'Ada', alert_id: null, device_serial: 'WIC-1' }]);
    await visitor.fine('a device with marks');
  });

  it('is maintenance, too', async () => {
    await api.send('POST', '/v1/maintenance-windows', { device_serials: ['WIC-1'], ends_at: new Date(Date.now() + 3_600_000).toISOString(), reason: 'New door seal' });
    await page.reload();
    await page.getByRole('region', { name: 'What was done in this period' }).getByText('New door seal').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /Condenser cleaned/ }).count()).toBe(1);
  });
});
