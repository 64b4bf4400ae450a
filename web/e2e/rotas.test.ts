// Who is on duty, in words and in a form: a rota is made, routes tell it, its gap stands on the overview, and calendars read it.
import { beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { phone, type Visitor } from './browser';
import { openShop } from './shop';

const shop = openShop({
  viewport: phone,
  async fill({ api, office, owner }) {
    await office.send('POST', '/v1/channels', { kind: 'webhook', name: 'Kitchen', url: 'https://example.com/x', enabled: false });
    const { data } = await api.send('POST', '/v1/sites', { name: 'Harbour', timezone: 'Asia/Tokyo' });
    await api.send('POST', '/v1/contacts', { site_id: data.site.id, name: 'Polar Service', phone: '+1 555 0142', note: 'contract 4711' });
    await api.send('POST', '/v1/devices', { serial: 'C-1', name: 'Back walk-in', equipment_type: 'walkin_cooler', site_id: data.site.id, offline_after_s: 86_400, limits: { temp_max: 5, delay_s: 0 } });
    expect(owner.email).toBe('ada@example.com');
  },
});
let page: Page, visitor: Visitor;
beforeAll(() => ({ page, visitor } = shop));
const dialog = () => page.getByRole('dialog');
const rotas = () => page.getByRole('region', { name: 'Rotas' });

it('makes a rota with a gap', async () => {
  await page.goto('/settings/notifications');
  await rotas().getByRole('button', { name: 'Add rota' }).click();
  await dialog().getByLabel('Name').fill('Nights');
  for (const day of ['Sat', 'Sun']) await dialog().getByRole('group', { name: 'Days' }).getByText(day, { exact: true }).click();
  await dialog().getByLabel('At a hand-over').selectOption({ label: 'Always' });
  await visitor.fineIn('the form of a rota', ['light', 'dark']);
  await dialog().getByRole('button', { name: 'Save' }).click();
  await rotas().getByText(/^Nobody is on duty .* – /).waitFor();
  const { rotas: list } = await shop.office.send('GET', '/v1/rotas');
  expect(list).toMatchObject([{ name: 'Nights', tell_hand_over: 'always', shifts: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '17:00', to: '08:00' }] }]);
});

it('has a route tell whoever is on duty, then somebody outside', async () => {
  await page.getByRole('button', { name: 'Add route' }).click();
  await dialog().getByLabel('Name').fill('Duty');
  const who = dialog().getByLabel('Who');
  await who.selectOption({ label: 'On duty: Nights' });
  await who.selectOption({ label: 'Polar Service, a contact' });
  await visitor.fine('the form of a route with a rota');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await shop.office.send('GET', '/v1/routes')).routes[0]?.steps[0].targets.map((t: { kind: string }) => t.kind).sort()).toEqual(['contact', 'rota']);
});

it('shows the gap on the overview', async () => {
  await page.goto('/');
  await page.getByTestId('gaps').getByText(/^Nights: Nobody is on duty /).waitFor();
  await visitor.fine('an overview with a gap in a rota');
});

it('makes a link for calendars, once', async () => {
  await page.goto('/settings/notifications');
  await rotas().getByRole('button', { name: 'Edit' }).click();
  await dialog().getByRole('button', { name: 'Make a calendar link' }).click();
  const link = (await dialog().getByTestId('calendar').textContent())!;
  const read = async () => await (await fetch(link)).text();
  expect(await read()).toMatch(/^BEGIN:VCALENDAR\r\n[^]*SUMMARY:Ada – Nights\r\n/);
  await visitor.fine('the calendar link of a rota');
  await dialog().getByRole('button', { name: 'Withdraw it' }).click();
  await dialog().getByRole('button', { name: 'Make a calendar link' }).waitFor();
  expect(await read()).toContain('does not work');
});

it('says on an alert whom to call', async () => {
  await shop.api.send('POST', '/v1/readings', { device_serial: 'C-1', product_zone_temp: 9 });
  await page.goto('/alerts');
  await page.getByText('Back walk-in').first().click();
  const call = page.getByRole('list', { name: 'Whom to call' });
  expect(await call.getByRole('link', { name: '+1 555 0142' }).getAttribute('href')).toBe('tel:+15550142');
  await call.getByText('Polar Service · contract 4711').waitFor();
  await visitor.fine('an alert with a contact');
});

it('has a way of one’s own, with an order and quiet hours, tried from its form', async () => {
  await page.goto('/account');
  await page.getByRole('button', { name: 'Add a way' }).click();
  await dialog().getByRole('button', { name: /^ntfy/ }).click();
  await dialog().getByRole('textbox').first().fill('my-topic');
  await dialog().getByLabel('Name').fill('My phone');
  await dialog().getByLabel('When').selectOption({ label: 'If nobody has it after 2 minutes' });
  await dialog().getByLabel(/Quiet hours/).check();
  await visitor.fine('the form of an own way');
  await dialog().getByRole('button', { name: 'Add', exact: true }).click();
  const ways = page.getByRole('region', { name: 'How you are reached' });
  await ways.getByText('ntfy · If nobody has it after 2 minutes · warnings not from 22:00 to 06:00').waitFor();
  expect((await shop.office.send('GET', '/v1/me/channels')).channels).toMatchObject([{ name: 'My phone', after_s: 120, quiet_from: '22:00', quiet_to: '06:00' }]);
});
