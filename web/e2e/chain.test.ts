// A chain: the sites first, the worst of them on top, and a wall that shows forty.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ fill });
beforeAll(() => ({ api, page, visitor } = shop));

async function fill({ api, office }: Shop) {
  const rows: string[] = [];
  for (let i = 1; i <= 40; i++) {
    await office.send('POST', '/v1/sites', { name: `Shop ${i}`, timezone: 'Europe/Berlin' });
    for (let k = 1; k <= 2; k++) rows.push(`S${i}-${k},Cooler ${k},walkin_cooler,Shop ${i},86400`);
  }
  await api.import('serial,name,equipment_type,site,offline_after_s\n' + rows.join('\n'));
  const readings = rows.map((r) => ({ device_serial: r.split(',')[0], product_zone_temp: 3 }));
  await api.send('POST', '/v1/readings/batch', { readings });
  await api.send('PATCH', '/v1/devices/S17-2/heartbeat', { status: 'offline' });
}

describe('a chain', () => {
  it('is looked at by site, the worst first', async () => {
    await page.goto('/');
    const sites = page.getByRole('region', { name: /^Sites/ });
    const links = (name?: RegExp) => sites.getByRole('listitem').getByRole('link', name && { name });
    await links().first().waitFor();
    await expect.poll(() => links().first().textContent()).toMatch(/Shop 17.*1 of 2 needs attention/);
    await expect.poll(() => links().nth(2).textContent()).toMatch(/^Shop 2\b/); // 1, 2, … 10
    await visitor.fine('the sites of a chain');
    await sites.getByRole('button', { name: 'Show all 40' }).click();
    await expect.poll(() => links().count()).toBe(40);
    await links(/Shop 17/).click();
    const { sites: list } = (await api.send('GET', '/v1/sites')).data;
    const found = list.find((s: { name: string }) => s.name === 'Shop 17');
    await expect.poll(() => new URL(page.url()).pathname).toMatch(new RegExp(`/sites/${found.id}$`));
    await page.getByRole('heading', { name: 'Shop 17' }).waitFor();
    await page.getByText('1 of 2 needs attention.').first().waitFor();
    await page.getByText('Nobody would be told of a critical alert.').waitFor(); // there is no channel yet
    await visitor.fine('the page of a site');
    await page.getByRole('link', { name: 'In the overview' }).click();
    // The headline counts what the filter shows; the address has it.
    await page.getByRole('heading', { name: '1 of 2 needs attention' }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('site')).toBe(String(found.id));
    expect((await api.send('GET', `/v1/devices?site_id=${found.id}`)).data.pagination.total).toBe(2);
  });

  it('is compared site by site, sorted and kept as a file', async () => {
    await page.goto('/sites');
    const names = () => page.getByRole('row').getByRole('link').allTextContents();
    await expect.poll(async () => (await names()).slice(0, 3)).toEqual(['Shop 17', 'Shop 1', 'Shop 2']);
    await visitor.fine('the sites compared');
    await page.getByRole('button', { name: 'Site', exact: true }).click();
    await page.getByRole('button', { name: 'Site', exact: true }).click();
    await expect.poll(async () => (await names())[0]).toBe('Shop 40');
    await page.getByLabel('Search sites').fill('shop 7');
    await expect.poll(names).toEqual(['Shop 7']); // not 17, not 27
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
    expect(readFileSync(await file.path(), 'utf8')).toMatch(/^\ufeffsite_id,name,devices,online,[\w,]+\r\n\d+,Shop 7,2,2,/);
  });

  it('goes anywhere by a few letters', async () => {
    await page.goto('/alerts');
    await visitor.settled();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search' });
    const first = () => page.getByRole('listbox', { name: 'Results' }).getByRole('option').first();
    await field.fill('shop 17 cool 2');
    await expect.poll(() => first().textContent()).toContain('Cooler 2');
    await visitor.fine('the palette');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/devices\/S17-2$/);
    await page.keyboard.press('Control+k');
    await field.fill('rotas');
    await expect.poll(() => first().textContent()).toContain('Notifications');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await field.fill('zzzz');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
  });

  it('is short on a status page: what is wrong, and the rest of a site on demand', async () => {
    const { plain_token } = await shop.office.send('POST', '/v1/tokens', { name: 'For the landlord', scopes: ['status:read'] });
    await page.goto('/status#' + plain_token);
    const site = (name: string) => page.getByRole('region', { name, exact: true });
    await site('Shop 17').getByText('1 of 2 needs attention.').waitFor();
    await expect.poll(() => site('Shop 17').getByRole('listitem').count()).toBe(1);
    // The worst site first; the others are a line each, in the order in which people count.
    await expect.poll(() => page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([expect.stringContaining('Shop 17'), 'Everything is fine at 39 sites']);
    const fine = site('Everything is fine at 39 sites');
    expect((await fine.getByRole('button').allInnerTexts()).slice(0, 2).map((t) => t.trim().replace(/\s+/g, ' '))).toEqual(['Shop 1 2 devices', 'Shop 2 2 devices']);
    expect(await fine.getByRole('listitem').count()).toBe(39);
    await visitor.fine('a status page of forty sites');
    await page.getByRole('button', { name: 'Show all 2 of Shop 17', exact: true }).click();
    await expect.poll(() => site('Shop 17').getByRole('listitem').count()).toBe(2);
    await fine.getByRole('button', { name: 'Shop 2 2 devices', exact: true }).click();
    await expect.poll(() => fine.getByRole('listitem').count()).toBe(41);
    await visitor.fine('a status page of forty sites, one of them open');
  });

  it('fits on the wall', async () => {
    await page.goto('/wall');
    await page.getByRole('heading', { name: /attention/ }).first().waitFor(); // before, no key is heard
    await page.keyboard.press('ArrowRight');
    const tiles = page.getByRole('listitem').filter({ hasText: /^\s*Shop/ });
    await expect.poll(() => tiles.count()).toBe(40);
    await visitor.fine('a wall of forty sites');
    const smallest = await tiles.evaluateAll((all) => Math.min(...all.map((t) => parseFloat(getComputedStyle(t.querySelector('span')!).fontSize))));
    expect(smallest).toBeGreaterThanOrEqual(12);
  });
});
