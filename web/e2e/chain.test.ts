// A chain: the sites first, the worst of them on top, and a wall that shows forty.
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
    await sites.getByRole('link').first().waitFor();
    await expect.poll(() => sites.getByRole('link').first().textContent()).toMatch(/Shop 17.*1 of 2 needs attention/);
    await expect.poll(() => sites.getByRole('link').nth(2).textContent()).toMatch(/^Shop 2\b/); // 1, 2, … 10
    await visitor.fine('the sites of a chain');
    await sites.getByRole('button', { name: 'Show all 40' }).click();
    await expect.poll(() => sites.getByRole('link').count()).toBe(40);
    await sites.getByRole('link').first().click();
    // The headline counts what the filter shows; the address has it.
    await page.getByRole('heading', { name: '1 of 2 needs attention' }).waitFor();
    const { sites: list } = (await api.send('GET', '/v1/sites')).data;
    const found = list.find((s: { name: string }) => s.name === 'Shop 17');
    await expect.poll(() => new URL(page.url()).searchParams.get('site')).toBe(String(found.id));
    expect((await api.send('GET', `/v1/devices?site_id=${found.id}`)).data.pagination.total).toBe(2);
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
