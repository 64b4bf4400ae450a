// Triage: the worst first, what is explained under its cause, one thumb, many at once,
// until a time; and what an owner does who leaves.
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { phone } from './browser';
import { gate } from './gate';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ viewport: phone, fill });
beforeAll(() => ({ api, page, visitor } = shop));

const hot = 13; // °C above its limit is critical for a walk-in freezer
async function warm({ api }: Shop, serial: string, name: string, t: number) {
  await api.send('POST', '/v1/devices', { serial, name, equipment_type: 'walkin_freezer', offline_after_s: 86_400 });
  await api.history(serial, Array.from({ length: 75 }, () => t));
}
async function fill(shop: Shop) {
  for (const [serial, name, t] of [['A-1', 'Warm freezer', -13.5], ['A-2', 'Hot freezer', hot], ['A-3', 'Other warm freezer', -14]] as const) await warm(shop, serial, name, t);
}

const dialog = () => page.getByRole('dialog');
const alerts = async () => (await api.send('GET', '/v1/alerts')).data.alerts as { id: number; device_name: string; acknowledged_at: string | null; acknowledgement_expires_at: string | null; note: string | null }[];

describe('the list', () => {
  it('has the worst first and takes a thumb', async () => {
    await page.goto('/alerts');
    await page.locator('[data-alert]').first().waitFor();
    await expect.poll(() => page.locator('[data-alert]').first().textContent()).toContain('Hot freezer');
    await visitor.fine('the list on a phone');
    const button = page.getByRole('button', { name: /^Acknowledge .*, Hot freezer$/ });
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44);
    await button.click();
    await expect.poll(async () => (await alerts()).find((a) => a.device_name === 'Hot freezer')!.acknowledged_at).not.toBeNull();
    await button.waitFor({ state: 'detached' });
    // What somebody deals with comes after what nobody does.
    await expect.poll(() => page.locator('[data-alert]').last().textContent()).toContain('Hot freezer');
  });

  it('says what went wrong where no thumb presses', async () => {
    visitor.failing = true;
    await page.route('**/acknowledge', (route) => route.fulfill({ status: 500, json: { success: false, error: { code: 'internal', message: 'The server is overloaded at the moment and has not stored it. Please try it again.', request_id: 'r-1' } } }));
    await page.getByRole('button', { name: /^Acknowledge .*, Warm freezer$/ }).click();
    const toast = (await page.getByRole('alert').boundingBox())!;
    const header = (await page.getByRole('banner').boundingBox())!;
    const content = await page.getByRole('main').evaluate((m) => parseFloat(getComputedStyle(m).paddingTop));
    expect(toast.y).toBeGreaterThanOrEqual(0);
    expect(toast.y + toast.height).toBeLessThanOrEqual(header.y + header.height + content);
    await visitor.fine('a refusal');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    visitor.failing = false;
  });

  it('acknowledges everything with one note', async () => {
    await page.getByRole('button', { name: 'Acknowledge all' }).click();
    await dialog().getByLabel('Note').fill('Van is on its way');
    await visitor.fine('acknowledging everything');
    await dialog().getByRole('button', { name: 'Acknowledge all' }).click();
    await dialog().waitFor({ state: 'detached' });
    const list = await alerts();
    expect(list.every((a) => a.acknowledged_at)).toBe(true);
    expect(list.filter((a) => a.note === 'Van is on its way').length).toBe(2);
  });
});

describe('one alert', () => {
  it('is the one that was pressed, whatever comes above it meanwhile', async () => {
    const rows = page.locator('[data-alert]');
    await expect.poll(() => rows.first().textContent()).toContain('Hot freezer');
    await page.getByLabel('Severity').focus(); // which the press takes away
    const lists = (name: string) => page.waitForResponse(async (r) => new URL(r.url()).pathname === '/api/v1/alerts' && (await r.text()).includes(name));
    // One list is on its way when it is pressed: that holds up nothing that is asked for afterwards.
    const underway = gate();
    const press = gate();
    await page.route('**/api/v1/alerts?*', (route) => (underway.open(), press.passed.then(() => route.fallback())));
    await warm(shop, 'A-4', 'Freezer that came first', -14);
    await underway.passed;
    await rows.first().hover();
    await page.mouse.down();
    const came = lists('Freezer that came first');
    press.open();
    await came;
    await Promise.all([lists('Freezer that came later'), warm(shop, 'A-5', 'Freezer that came later', hot)]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await visitor.drawn();
    await page.mouse.up();
    await page.getByRole('region', { name: 'Chart of the hours around it' }).waitFor();
    await page.getByRole('heading', { level: 1 }).filter({ visible: true, hasText: 'Hot freezer' }).waitFor();
    await page.goBack();
    await expect.poll(() => rows.first().textContent()).toContain('Freezer that came later');
  });

  it('has its chart', async () => {
    await page.locator('[data-alert]').filter({ hasText: 'Hot freezer' }).click();
    await page.getByRole('region', { name: 'Chart of the hours around it' }).locator('canvas').waitFor();
    await page.getByTestId('unheard').waitFor(); // there is no channel
    await visitor.fine('an alert with its chart');
  });

  it('is snoozed until a time on the clock of the site', async () => {
    await page.getByRole('button', { name: 'Acknowledged' }).click();
    await dialog().getByLabel('For').selectOption({ label: 'Until a time' });
    const until = new Date(Date.now() + 26 * 3_600_000);
    const [, y, m, d, time] = /^(\d+)-(\d+)-(\d+) (\d+:\d+)/.exec(until.toLocaleString('sv-SE', { timeZone: 'Asia/Tokyo' }))!;
    const field = dialog().getByLabel('Until');
    await field.fill(`${y}/${d}/${m} at ${time}`);
    await field.blur();
    await dialog().getByText('Write it like 31/12/2026 19:47.').waitFor();
    expect(await dialog().getByRole('button', { name: 'Acknowledge' }).isDisabled()).toBe(true);
    await field.fill(`${d}.${m}.${y}, ${time}`); // in the order of a reader in Europe
    await field.blur();
    expect(await field.inputValue()).toBe(`${d}/${m}/${y} ${time}`);
    await visitor.fine('until a time');
    await dialog().getByRole('button', { name: 'Acknowledge' }).click();
    await expect.poll(async () => Date.parse((await alerts()).find((a) => a.device_name === 'Hot freezer')!.acknowledgement_expires_at!)).toBeGreaterThan(until.getTime() - 120_000);
  });
});

describe('an owner who leaves', () => {
  it('takes everything along', async () => {
    await page.goto('/settings/general');
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export everything' }).click()]);
    expect((await readFile(await download.path(), 'latin1')).startsWith('PK')).toBe(true);
  });

  it('deletes the workspace by its name, and keeps it after all', async () => {
    await page.getByRole('button', { name: 'Delete the workspace' }).click();
    const go = dialog().getByRole('button', { name: 'Delete in 7 days' });
    expect(await go.isDisabled()).toBe(true);
    await dialog().getByLabel(/Type its name/).fill('Corner Shop');
    await visitor.fine('deleting a workspace');
    await go.click();
    await page.getByText(/This workspace is erased on/).waitFor();
    await page.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Delete the workspace' }).waitFor();
  });
});

describe('a device that somebody else deletes', () => {
  it('is said to be gone on its page', async () => {
    visitor.nothingAt = /^\/api\/v1\/devices\//;
    await page.goto('/devices/A-1');
    await page.getByRole('heading', { name: 'Warm freezer' }).first().waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    await visitor.settled();
    await api.send('DELETE', '/v1/devices/A-1');
    await page.getByRole('heading', { name: 'Device A-1 not found' }).waitFor();
    await visitor.fine('a device that is gone');
  });
});
