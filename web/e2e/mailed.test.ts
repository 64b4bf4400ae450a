// Temperature logs by mail: set up on the reports page, sent by hand, received with
// their PDF in the language of the channel.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { phone } from './browser';
import { mailbox } from './mailbox';
import { openShop, type Shop } from './shop';

let { office, page, visitor: owner } = {} as Shop;
const { mails, flags } = await mailbox();
const shop = openShop({ flags, fill });
beforeAll(() => ({ office, page, visitor: owner } = shop));

async function fill({ api }: Shop) {
  const { data } = await api.send('POST', '/v1/sites', { name: 'Calle Mayor', timezone: 'Europe/Madrid' });
  await api.send('POST', '/v1/devices', { serial: 'WIF-1', name: 'Back walk-in', equipment_type: 'walkin_freezer', site_id: data.site.id });
}

const section = () => page.getByRole('region', { name: 'Sent by mail' });
const dialog = () => page.getByRole('dialog');
const shot = async (name: string, of: Page = page) => process.env.SHOTS && (await of.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true }));

describe('reports by mail', () => {
  it('says what is missing before there is a channel', async () => {
    await page.goto('/reports');
    await section().getByText('Reports go to channels for e-mail, and there is none yet.').waitFor();
    expect(await section().getByRole('button', { name: 'Add' }).isDisabled()).toBe(true);
    await shot('none');
  });

  it('is set up for a site', async () => {
    await office.send('POST', '/v1/channels', { name: 'Kitchen', kind: 'email', to: ['cocina@example.com'], language: 'es' });
    await office.send('POST', '/v1/channels', { name: 'Office', kind: 'email', to: ['office@example.com'] });
    await page.goto('/reports');
    await section().getByText('No report is sent automatically yet.').waitFor();
    await section().getByRole('button', { name: 'Add' }).click();
    expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog().getByLabel('How often').selectOption({ label: 'Every month' });
    await dialog().getByRole('checkbox', { name: /Kitchen/ }).check();
    await owner.fine('the form of a report');
    await shot('dialog');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await section().getByText('Calle Mayor, every month').waitFor();
    await section().getByText(/^To Kitchen · next on 1 /).waitFor();
    await owner.fine('the reports that are sent');
    await shot('list');
  });

  it('is sent by hand', async () => {
    await section().getByRole('button', { name: 'Send now' }).click();
    await page.getByText('The report for last month is being made and sent.').waitFor();
    await expect.poll(() => mails.length).toBe(1);
    expect(mails[0]).toContain('To: <cocina@example.com>');
    expect(mails[0]).toMatch(/filename="?temperature-log-site-\d+-calle-mayor-\d{4}-\d\d-01-to-/);
    expect(mails[0]).toContain('JVBERi0'); // %PDF-
    expect(mails[0]).toContain('El registro de temperaturas va adjunto en PDF');
  });

  it('leads to the days that it is about', async () => {
    await page.goto('/reports?from=2025-10-20&to=2025-10-26');
    await expect.poll(() => page.getByLabel('Period').evaluate((s: HTMLSelectElement) => s.selectedOptions[0]!.text)).toBe('20 Oct 2025 to 26 Oct 2025');
    const asked = async () => new URL((await page.getByRole('link', { name: 'PDF' }).getAttribute('href'))!, page.url()).searchParams;
    // From midnight to midnight by the clocks of the site, which were set back that Sunday.
    await expect.poll(async () => [(await asked()).get('from'), (await asked()).get('to')]).toEqual(['2025-10-19T22:00:00.000Z', '2025-10-26T23:00:00.000Z']);
    await owner.fine('the log of a week');
    await page.getByLabel('Period').selectOption({ index: 1 });
    await page.getByLabel('Month').and(page.locator('select')).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(false);
  });

  it('is changed, read on a phone in Spanish, and removed', async () => {
    await section().getByRole('button', { name: 'Edit' }).click();
    await dialog().getByLabel('Site').selectOption({ label: 'All sites' });
    await dialog().getByRole('checkbox', { name: 'Enabled' }).uncheck();
    await dialog().getByRole('button', { name: 'Save' }).click();
    await section().getByText('All sites, every month').waitFor();
    await section().getByText('To Kitchen · disabled').waitFor();
    const { report_schedules: list } = await office.send('GET', '/v1/report-schedules');
    expect(list).toMatchObject([{ site_id: null, period: 'monthly', enabled: false, next_at: null }]);
    await page.setViewportSize(phone);
    await owner.atOnce();
    await office.send('PATCH', '/v1/me', { language: 'es' });
    await page.reload();
    await page.getByRole('region', { name: 'Envío por correo' }).getByText('Todos los locales, cada mes').waitFor();
    await owner.fine('the reports on a phone');
    await shot('phone');
    await page.getByRole('button', { name: /^Quitar Todos/ }).click();
    await dialog().getByRole('button', { name: 'Quitar' }).click();
    await page.getByText('Todavía no se envía ningún informe automáticamente.').waitFor();
    expect((await office.send('GET', '/v1/report-schedules')).report_schedules).toEqual([]);
  });
});
