// The walk of a manager and a service firm: an alert, an order, a link on somebody's phone, a photo, what was done, and who verified it.
import { beforeAll, describe, expect, it } from 'vitest';
import { phone, Visitor } from './browser';
import { openShop, type Shop } from './shop';

let { api, page, visitor, browser, server } = {} as Shop;
const shop = openShop({ viewport: phone, fill });
beforeAll(() => ({ api, page, visitor, browser, server } = shop));

async function fill({ api, office }: Shop) {
  const site = (await api.send('POST', '/v1/sites', { name: 'Harbour Street', address: 'Quay 12' })).data.site.id;
  await office.send('POST', '/v1/contacts', { site_id: site, name: 'Kim Frost', company: 'Polar Service', phone: '+1 555 0142' });
  await api.send('POST', '/v1/devices', { serial: 'WIC-1', name: 'Meat cooler', site_id: site, equipment_type: 'walkin_cooler', offline_after_s: 86_400, limits: { delay_s: 0, critical_delay_s: 0 } });
  await api.history('WIC-1', Array.from({ length: 60 }, (_, i) => (i > 30 ? 12.5 : 3)));
}

const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
let link = '';

describe('work', () => {
  it('is ordered from an alert, from a contact, who gets a link', async () => {
    await expect.poll(async () => (await api.send('GET', '/v1/alerts')).data.alerts.length, { timeout: 60_000 }).toBeGreaterThan(0);
    await page.goto(`/alerts/${(await api.send('GET', '/v1/alerts')).data.alerts[0].id}`);
    await page.getByRole('button', { name: 'Order work' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Who is to come').selectOption({ label: 'Kim Frost, Polar Service' });
    await form.getByLabel('How to get in').fill('Ring twice');
    await visitor.fine('an order');
    await form.getByRole('button', { name: 'Order', exact: true }).click();
    link = new URL((await page.getByTestId('order-link').textContent())!).pathname;
    await visitor.fine('the link of an order');
    await page.keyboard.press('Escape');
    expect(await page.getByTestId('order-status').textContent()).toBe('Assigned');
    await visitor.fine('an order that was given');
  });

  it('is reported by whoever has the link, with a photo', async () => {
    const kim = await Visitor.arrive(browser, server, phone);
    const at = kim.page;
    await at.goto(link);
    await at.getByRole('heading', { name: 'Meat cooler' }).waitFor();
    for (const text of ['Ring twice', 'Quay 12', 'Kim Frost, Polar Service']) await at.getByText(text, { exact: true }).first().waitFor();
    await kim.fine('the page of a link');
    await at.getByRole('button', { name: 'I am there' }).click();
    await at.getByText('There since').waitFor();
    await at.getByTestId('attach').setInputFiles({ name: 'fan.png', mimeType: 'image/png', buffer: pixel });
    await at.getByRole('img', { name: 'fan.png' }).waitFor();
    await at.getByRole('button', { name: 'Done: report' }).click();
    expect(await at.getByRole('button', { name: 'Send the report' }).isDisabled()).toBe(true);
    await at.getByLabel('Repaired', { exact: true }).check();
    await at.getByLabel('Cause').fill('Fan worn out');
    await at.getByLabel('What was done').fill('Fan replaced');
    await kim.fine('a report');
    await at.getByRole('button', { name: 'Send the report' }).click();
    await at.getByText('Thank you').waitFor();
    await kim.fine('what was reported');
    await kim.refused('GET', '/api/v1/work-order-links/AAAA', 404, () => at.goto('/o/AAAA'));
    await at.getByText('This link does not work').waitFor();
    await kim.fine('a link that does not work');
    await kim.leave();
  });

  it('stands in the case, and is verified by another person', async () => {
    await page.goto('/work?status=done');
    await visitor.fine('work to verify');
    await page.getByRole('link', { name: /Meat cooler/ }).click();
    await page.getByText('The alert is still active').waitFor();
    await page.getByRole('img', { name: 'fan.png' }).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await expect.poll(() => page.getByTestId('order-status').textContent()).toBe('Verified');
    await visitor.fine('a verified order');
    await page.getByRole('link', { name: /^Case \d+$/ }).click();
    await page.getByText('Fan replaced').waitFor();
    await page.getByRole('img', { name: 'fan.png' }).waitFor();
  });
});
