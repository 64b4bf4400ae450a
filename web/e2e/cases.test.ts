// The walk of a pharmacist: an excursion has a case, which is documented, has a photo, is signed, and is handed over as a PDF.
import { beforeAll, describe, expect, it } from 'vitest';
import { phone } from './browser';
import { openShop, type Shop } from './shop';

let { api, page, visitor, owner } = {} as Shop;
const shop = openShop({ viewport: phone, fill });
beforeAll(() => ({ api, page, visitor, owner } = shop));

async function fill({ api, office }: Shop) {
  await api.send('POST', '/v1/devices', { serial: 'VAC-1', name: 'Vaccines', equipment_type: 'vaccine_refrigerator', offline_after_s: 86_400, limits: { delay_s: 600, critical_delay_s: 600 } });
  await api.history('VAC-1', Array.from({ length: 180 }, (_, i) => (i > 60 && i < 110 ? 12.5 : 4.8)));
  await office.send('PATCH', '/v1/workspace', { require_action: 'all' });
}

// A photo of one pixel.
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

describe('a case', () => {
  it('waits on the overview', async () => {
    await expect.poll(async () => (await api.send('GET', '/v1/excursions')).data.excursions.filter((e: { to: string | null }) => e.to).length, { timeout: 90_000 }).toBeGreaterThan(0);
    await page.goto('/');
    await page.getByTestId('paperwork').click();
    await page.getByRole('heading', { name: 'Cases', level: 1 }).waitFor();
    await visitor.fine('the cases that wait');
    await page.getByRole('link', { name: /Vaccines/ }).click();
    await page.getByRole('heading', { name: 'Vaccines', level: 1 }).waitFor();
    expect(await page.getByTestId('case-status').textContent()).toBe('Not documented');
    await page.getByText('call the manufacturer').first().waitFor();
  });

  it('is documented, with nothing chosen beforehand', async () => {
    await page.getByRole('button', { name: 'Record' }).click();
    const form = page.getByRole('dialog');
    expect(await form.getByLabel('What became of the product').inputValue()).toBe('');
    await form.getByLabel('What was done').fill('Moved all vials to unit 2');
    await form.getByLabel('Cause', { exact: true }).fill('Door ajar');
    await form.getByLabel('What became of the product').selectOption('Quarantined');
    await form.getByRole('button', { name: 'Record' }).click();
    await form.waitFor({ state: 'hidden' });
    await expect.poll(() => page.getByTestId('case-status').textContent()).toBe('Documented, not signed');
    await page.getByText('Moved all vials to unit 2').waitFor();
  });

  it('has a photo', async () => {
    await page.getByTestId('attach').setInputFiles({ name: 'door.png', mimeType: 'image/png', buffer: pixel });
    await page.getByRole('img', { name: 'door.png' }).waitFor();
    await visitor.fine('a documented case');
  });

  it('is signed by who shows again who signs', async () => {
    await page.getByRole('button', { name: 'Sign' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('I did this').check();
    await form.getByLabel('Your e-mail address').fill(owner.email);
    await visitor.fine('what is signed');
    await form.getByLabel('Your password').fill(owner.password);
    await form.getByRole('button', { name: 'Sign', exact: true }).click();
    await form.waitFor({ state: 'hidden' });
    expect(await page.getByTestId('case-status').textContent()).toBe('Signed');
    await page.getByText('Performed').waitFor();
    await visitor.fine('a signed case');
  });

  it('is handed over as a PDF', async () => {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'PDF' }).click()]);
    const chunks: Buffer[] = [];
    for await (const part of await file.createReadStream()) chunks.push(part as Buffer);
    expect(Buffer.concat(chunks).subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('is where the excursion leads', async () => {
    await page.goto('/devices/VAC-1');
    await page.getByRole('link', { name: /^Case \d+$/ }).first().click();
    await page.getByRole('heading', { name: 'Vaccines', level: 1 }).waitFor();
  });
});
