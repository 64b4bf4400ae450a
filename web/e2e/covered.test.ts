// On a phone: that nobody would be told of an alert is the first thing that is seen, a silence is chosen with
// open eyes, and while it holds every page says so.
import { createServer, type Server as Receiver } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { phone, type Visitor } from './browser';
import { openShop } from './shop';
import type { Page } from 'playwright-core';

let receiver: Receiver;
beforeAll(async () => {
  receiver = createServer((request, answer) => request.resume().on('end', () => answer.end()));
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
});
afterAll(() => receiver?.close());

const shop = openShop({
  viewport: phone,
  flags: ['--outbound-allow', '127.0.0.1/32'],
  async fill({ api, office }) {
    for (const name of ['Harbour', 'Old Town']) {
      const { site } = await office.send('POST', '/v1/sites', { name, timezone: 'Asia/Tokyo' });
      await api.send('POST', '/v1/devices', { serial: `C-${site.id}`, name: `Cooler ${name}`, equipment_type: 'walkin_cooler', site_id: site.id, offline_after_s: 86_400 });
      await api.send('POST', '/v1/readings', { device_serial: `C-${site.id}`, product_zone_temp: 3 });
    }
  },
});
let page: Page, visitor: Visitor;
beforeAll(() => ({ page, visitor } = shop));
const dialog = () => page.getByRole('dialog');
const held = () => page.getByTestId('held');
const headline = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

it('says under the headline that nobody would be told, and how to mend it', async () => {
  await page.goto('/');
  await headline('Everything is fine (2 devices), and nobody would be told.');
  const notice = page.getByTestId('unheard');
  await notice.getByText('there is no way to notify anybody yet').waitFor();
  const [said, card] = await Promise.all([notice.boundingBox(), page.getByText('Cooler Harbour').boundingBox()]);
  expect(said!.y + said!.height).toBeLessThan(card!.y);
  expect(said!.y + said!.height).toBeLessThan(phone.height);
  await visitor.fineIn('an overview of which nobody would be told', ['light', 'dark']);

  const { channel } = await shop.office.send('POST', '/v1/channels', { kind: 'webhook', name: 'Night shift', url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });
  await page.reload();
  await headline('Everything is fine (2 devices), and no channel has been tested.');
  await shop.office.send('POST', `/v1/channels/${channel.id}/test`);
  await page.reload();
  await headline('Everything is fine (2 devices).');
  expect(await notice.count()).toBe(0);
});

it('silences nothing that was not chosen, and asks for the number where it is more than one site', async () => {
  await visitor.atOnce();
  await page.goto('/settings/quiet');
  await page.getByRole('button', { name: 'Silence', exact: true }).click();
  const silence = dialog().getByRole('button', { name: 'Silence', exact: true });
  await dialog().getByLabel('Why').fill('delivery');
  expect(await silence.isDisabled()).toBe(true);
  await dialog().getByLabel('Everything in this workspace').check();
  await dialog().getByText('2 devices at 2 sites fall silent.').waitFor();
  expect(await silence.isDisabled()).toBe(true);
  await dialog().getByLabel('Type 2 to confirm').fill('3');
  expect(await silence.isDisabled()).toBe(true);
  await visitor.fineIn('a silence of everything', ['light', 'dark']);
  await dialog().getByLabel('Type 2 to confirm').fill('2');
  await silence.click();
  await dialog().waitFor({ state: 'detached' });
  await held().getByText(/^Nobody is told until \d\d:\d\d: delivery \(.+\)$/).waitFor();
});

it('says on every page and on the wall that nobody is told, marks what is silent, and announces the end', async () => {
  for (const path of ['/alerts', '/reports', '/devices/C-1', '/']) {
    await page.goto(path);
    await held().getByText(/^Nobody is told until/).waitFor();
  }
  await headline('Everything is fine (2 devices), and nobody would be told.');
  expect(await page.getByRole('img', { name: 'Silenced' }).count()).toBe(2);
  await visitor.fineIn('an overview while a silence holds', ['light', 'dark']);
  await page.goto('/wall');
  await held().getByText(/^Nobody is told until/).waitFor();
  await visitor.fine('the wall while a silence holds');
  await page.goto('/');
  await held().getByRole('button', { name: 'End now' }).click();
  await page.getByText('People are told of alerts again.').waitFor();
  await held().waitFor({ state: 'detached' });
  await headline('Everything is fine (2 devices).');
  expect(await page.getByRole('img', { name: 'Silenced' }).count()).toBe(0);
});
