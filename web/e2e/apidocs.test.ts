// The reference of the API: fit for everybody, samples in four languages, and calls that it makes itself.
import { beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { phone, type Visitor } from './browser';
import { openShop } from './shop';

const shop = openShop({ viewport: phone });
let page: Page, visitor: Visitor;
beforeAll(() => ({ page, visitor } = shop));

const article = (id: string) => page.locator(`article#${id}`);

it('shows a call in four languages', async () => {
  await page.goto('/api/docs');
  const sample = article('create-device').locator('.languages + div code');
  const said = { curl: '-H "Authorization: Bearer $TOKEN"', Python: 'rime.create_device({', TypeScript: "await rime.post('/v1/devices', { body: {", Go: 'client.Request{Method: "POST", Path: "/devices", Body: json.RawMessage(`{' };
  for (const [language, text] of Object.entries(said)) {
    await article('create-device').getByRole('button', { name: language, exact: true }).click();
    await expect.poll(() => sample.textContent()).toContain(text);
  }
  await expect.poll(() => article('list-alerts').locator('.languages + div code').textContent(), 'the choice holds for the page').toContain('client.Request{Method: "GET", Path: "/alerts"}');
});

it('makes a call with a token that it forgets, and without the session', async () => {
  const form = article('list-sites').locator('details.try');
  await article('list-sites').getByText('Try it').click();
  await visitor.refused('GET', '/api/v1/sites', 401, () => form.getByRole('button', { name: 'Send GET' }).click());
  await form.getByText('401').waitFor();
  const token = await shop.office.token();
  await form.getByLabel('API token').fill(token);
  await form.getByRole('button', { name: 'Send GET' }).click();
  await form.getByText('"success": true').waitFor();
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toContain(token);
});

it('is fit for people with disabilities in both themes, and no wider than a phone', async () => {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  await article('create-device').getByText('Try it').click();
  // All operations are built alike, and are too many for axe.
  await page.evaluate(() => document.querySelectorAll('article:not(#create-device, #list-sites)').forEach((a) => a.remove()));
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    expect(await visitor.flaws(), theme).toEqual([]);
  }
});
