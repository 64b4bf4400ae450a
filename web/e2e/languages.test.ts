// A person chooses a language, °F and a 12-hour clock, and reads them everywhere:
// on the pages and in alerts as they come.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { desktop, launch, Visitor } from './browser';
import { Api, Office, Server } from './server';

let server: Server;
let browser: Browser;
let visitor: Visitor;
let page: Page;
let api: Api;

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  const office = new Office(server.url);
  const owner = await office.open(server.code);
  api = new Api(server.url, await office.token());
  visitor = await Visitor.arrive(browser, server);
  page = visitor.page;
  await visitor.signIn(owner.email, owner.password);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
afterEach(({ task }) => visitor.quiet(task.name));

it('is chosen in the account, and shows at once', async () => {
  await api.send('POST', '/v1/devices', { serial: 'COLD-1', name: 'Cámara 1', equipment_type: 'walkin_freezer', offline_after_s: 86_400, limits: { temp_max: -15, delay_s: 0 } });
  await api.send('POST', '/v1/readings', { device_serial: 'COLD-1', product_zone_temp: -20 });
  await page.goto('/account');
  for (const name of ['°F', '7:47 PM']) await visitor.answered('PATCH', '/api/v1/me', () => page.getByRole('radio', { name }).check());
  await page.getByLabel('Language').selectOption('es');
  await page.getByRole('heading', { name: 'Ajustes de la cuenta' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('es');
  await page.goto('/');
  await page.getByRole('heading', { name: 'Todo está bien (1 equipo)' }).waitFor();
  await page.getByText('−4.0').first().waitFor();
});

it('is the language of alerts as they come', async () => {
  await api.settled('COLD-1', -5);
  await page.getByRole('heading', { name: '1 de 1 requiere atención' }).waitFor();
  const [alert] = (await api.send('GET', '/v1/alerts')).data.alerts;
  expect(alert.title).toBe('Too warm'); // a token without Accept-Language reads English
  await page.goto(`/alerts/${alert.id}`);
  await page.getByRole('heading', { name: 'Demasiado caliente' }).first().waitFor();
  await page.getByText('La zona de producto está a 23 °F, por encima de su límite de 5 °F').first().waitFor();
});

it('has room for its words on the wall of a phone', async () => {
  for (let i = 2; i <= 9; i++) await api.send('POST', '/v1/devices', { serial: `COLD-${i}`, name: `Cámara ${i}`, equipment_type: 'walkin_freezer', offline_after_s: 86_400, limits: { temp_max: -15, delay_s: 0 } });
  await api.history('COLD-2', Array.from({ length: 90 }, () => -5));
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto('/wall');
  const word = page.getByRole('listitem').filter({ hasText: 'Cámara 2' }).getByText('Demasiado caliente', { exact: true });
  await word.waitFor();
  await expect.poll(() => word.evaluate((e) => e.scrollWidth - e.clientWidth)).toBeLessThanOrEqual(0); // its font may come later
  await page.setViewportSize(desktop);
});

it('finds the type that a file means', async () => {
  await page.goto('/settings/devices');
  await page.getByRole('button', { name: 'Importar CSV' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Archivo CSV').setInputFiles({ name: 'equipos.csv', mimeType: 'text/csv', buffer: Buffer.from('serial,equipment_type\nN-1,walkin_coolr\nN-2,walkin_freezr\n') });
  await dialog.getByText('Sin evaluar: tipo desconocido walkin_coolr').waitFor();
  await dialog.getByRole('button', { name: 'Usar los tipos conocidos' }).click();
  await dialog.getByText('Sin evaluar').first().waitFor({ state: 'detached' });
  await dialog.getByText('2 equipos por crear, 0 por actualizar, 0 sin cambios.').waitFor();
  await page.keyboard.press('Escape');
});

it('goes back to English', async () => {
  await page.goto('/account');
  await page.getByLabel('Idioma').selectOption('en');
  await page.getByRole('heading', { name: 'Account settings' }).waitFor();
});
