// What is done by the link of a message, without signing in, on a phone.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { phone, Visitor } from './browser';
import { linkIn, mailbox } from './mailbox';
import { openShop } from './shop';

const { mails, flags } = await mailbox();
const shop = openShop({
  flags,
  async fill({ api, office, owner, server }) {
    await office.send('PATCH', '/v1/address', { address: server.url });
    await office.send('POST', '/v1/channels', { kind: 'email', name: 'Ada', to: [owner.email] });
    const { data } = await api.send('POST', '/v1/sites', { name: 'Harbour', timezone: 'Asia/Tokyo', address: '1 Quay' });
    await api.send('POST', '/v1/devices', { serial: 'C-1', name: 'Back walk-in', equipment_type: 'walkin_cooler', site_id: data.site.id, offline_after_s: 86_400, limits: { temp_max: 5, delay_s: 0 } });
  },
});
let stranger: Visitor;
beforeAll(async () => {
  stranger = await Visitor.arrive(shop.browser, shop.server, phone);
});
afterAll(() => stranger.page.context().close());

it('acknowledges by a tap in a mail and one button', async () => {
  await shop.api.send('POST', '/v1/readings', { device_serial: 'C-1', product_zone_temp: 9 });
  await expect.poll(() => mails.length).toBe(1);
  const path = linkIn(mails[0]!, '/a/');
  const { page } = stranger;
  await page.goto(path);
  await page.getByRole('heading', { level: 1, name: /^Back walk-in: 9\s°C, too warm$/ }).waitFor();
  await page.getByText('Harbour, 1 Quay').waitFor();
  await page.getByText('You acknowledge as Ada.').waitFor();
  await stranger.fineIn('the page of a link', ['light', 'dark']);
  expect((await shop.office.send('GET', '/v1/alerts')).alerts[0].acknowledged_by).toBeNull();
  await page.getByRole('button', { name: 'I have it: acknowledge' }).click();
  await page.getByRole('heading', { level: 1, name: 'Thank you' }).waitFor();
  await page.getByText(/^Acknowledged by Ada, by the link in a message, /).waitFor();
  expect((await shop.office.send('GET', '/v1/alerts')).alerts[0].acknowledged_by).toBe('Ada, by the link in a message');
  await page.reload();
  await page.getByText(/^Acknowledged by Ada/).waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
});

it('says that a link does not work', async () => {
  const { page } = stranger;
  await stranger.refused('GET', '/api/v1/acknowledgements/AAAA', 404, () => page.goto('/a/AAAA'));
  await page.getByText('This link does not work: it is incomplete, or somebody has changed it.').waitFor();
  await stranger.fine('a link that does not work');
  await stranger.quiet('links');
});
