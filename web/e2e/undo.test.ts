// What ends, forgets or silences something can be taken back for ten seconds, and the server does it by itself afterwards.
import { beforeAll, describe, expect, it } from 'vitest';
import { phone } from './browser';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ viewport: phone, fill });
beforeAll(() => ({ api, page, visitor } = shop));

async function fill({ api }: Shop) {
  await api.send('POST', '/v1/devices', { serial: 'B-1', name: 'Back freezer', equipment_type: 'walkin_freezer', offline_after_s: 86_400 });
  await api.history('B-1', Array.from({ length: 75 }, () => -13.5));
}

const bar = () => page.locator('[data-act]');
const warning = async () => (await api.send('GET', '/v1/alerts?status=all')).data.alerts[0] as { id: number; status: string; note: string | null };

async function resolve() {
  await page.goto(`/alerts/${(await warning()).id}`);
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.getByRole('dialog').getByLabel('Note (optional)').fill('Door was open');
  await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click();
  await bar().waitFor();
}

describe('undo', () => {
  it('takes back what was asked for', async () => {
    await resolve();
    expect(await bar().textContent()).toContain('Ending the alert of Back freezer');
    const button = bar().getByRole('button', { name: 'Undo' });
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await visitor.fine('what can be taken back');
    await page.reload(); // it is the server's, not the page's
    await button.click();
    await bar().waitFor({ state: 'detached' });
    await page.getByText('Taken back. Nothing was changed.').waitFor();
    expect((await warning()).status).toBe('active');
  });

  it('is done after ten seconds, without the page', async () => {
    await resolve();
    await page.goto('about:blank');
    await expect.poll(async () => (await warning()).status, { timeout: 60_000 }).toBe('resolved');
    expect((await warning()).note).toBe('Door was open');
  });
});
