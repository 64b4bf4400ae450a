// Every page on a phone and on a desktop: nothing that keeps people with
// disabilities out, nothing wider than the window, no error in the console,
// and names that try to break it.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { desktop, launch, phone, Visitor } from './browser';
import { Api, Office, Server, type Person } from './server';

const markup = '<img src=x onerror="document.title=1">&amp;<b>"\'';
const arabic = 'ثلاجة اللحوم \u202Eabc';
const endless = 'W'.repeat(64);

let server: Server;
let browser: Browser;
let api: Api;
const people: Record<string, Person> = {};

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start(), launch()]);
  const office = new Office(server.url);
  people.owner = await office.open(server.code);
  people.viewer = await office.hire('viewer');
  people.technician = await office.hire('technician');
  api = new Api(server.url, await office.token());
  const { site } = await office.send('POST', '/v1/sites', { name: markup, timezone: 'Europe/Berlin', address: endless });
  const devices = [
    { serial: 'HOT-1', name: markup, equipment_type: 'walkin_freezer', site_id: site.id },
    { serial: 'RTL-1', name: arabic, equipment_type: 'meat_cooler', site_id: site.id },
    { serial: endless, name: endless, equipment_type: 'no_such_type', labels: { [endless]: markup } },
    { serial: 'NEVER-1', name: 'Never reported', equipment_type: 'walkin_cooler' },
  ];
  for (const d of devices) await api.send('POST', '/v1/devices', { ...d, offline_after_s: 86_400 });
  await api.history('HOT-1', Array.from({ length: 90 }, (_, i) => (i < 10 ? -19 : -12.6)));
  await api.history('RTL-1', Array.from({ length: 90 }, () => 2));
  await api.history(endless, Array.from({ length: 5 }, () => 1.5));
  await office.send('POST', '/v1/channels', { kind: 'webhook', name: markup, url: 'https://example.com/x', enabled: false });
  await office.send('POST', '/v1/silences', { match: { types: ['high_vibration'] }, ends_at: new Date(Date.now() + 3_600_000).toISOString(), comment: markup });
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const pages: [string, RegExp][] = [
  ['/', /attention/],
  ['/?q=never', /Never reported/],
  ['/devices/HOT-1', /Product zone/],
  ['/devices/NEVER-1', /Never reported/],
  [`/devices/${endless}`, /WWWW/],
  ['/connect', /What do you have/],
  ['/alerts', /too warm/i],
  ['/alerts?status=all', /Resolved/],
  ['/alerts/1', /Timeline/],
  ['/reports', /Temperature log/],
  ['/account', /Password/],
  ['/account/sessions', /This browser/],
  ['/account/tokens', /Full access/],
  ['/settings/devices', /HOT-1/],
  ['/settings/sites', /Europe\/Berlin/],
  ['/settings/members', /technician@example.com/],
  ['/settings/notifications', /Routes/],
  ['/settings/quiet', /until/],
  ['/settings/predictions', /Nothing has been predicted yet/],
  ['/settings/general', /Retention/],
  ['/settings/audit', /The chain is intact/],
  ['/policies', /Privacy/],
  ['/wall', /attention/],
  ['/labels', /Print them/],
  ['/status', /This link does not work/],
  ['/send', /This link does not work/],
  ['/nowhere', /Page not found/],
];

describe.each([
  ['phone', phone],
  ['desktop', desktop],
])('on a %s', (_, viewport) => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await Visitor.arrive(browser, server, viewport);
    await visitor.signIn(people.owner!.email, people.owner!.password);
  });
  afterAll(() => visitor?.leave());

  it.each(pages)('%s', async (path, shows) => {
    const { page } = visitor;
    await page.goto(path);
    await page.getByText(shows).filter({ visible: true }).first().waitFor();
    // Several parts of a page may be loading at once: a locator that waits would take only one.
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
    expect(await visitor.shift(), 'layout shift').toBeLessThan(0.05);
    await visitor.fine(path);
    expect(await page.title()).toMatch(/Rimewatch/);
  });
});

describe('roles', () => {
  async function as(who: string): Promise<Visitor> {
    const v = await Visitor.arrive(browser, server);
    await v.signIn(people[who]!.email, people[who]!.password);
    return v;
  }

  it('a viewer looks and changes nothing', async () => {
    const v = await as('viewer');
    await v.page.goto('/alerts/1');
    await v.page.getByText('Timeline').waitFor();
    expect(await v.page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
    await v.page.goto('/settings/members');
    await v.page.getByText('You do not have access').waitFor();
    await v.page.goto('/account/tokens');
    await v.page.getByRole('heading', { name: 'Profile' }).waitFor();
    expect(await v.page.getByText('New token').count()).toBe(0);
    await v.leave();
  });

  it('a technician acknowledges, and makes no members', async () => {
    const v = await as('technician');
    await v.page.goto('/alerts/1');
    await v.page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await v.page.getByText('is dealing with this').waitFor();
    await expect.poll(async () => (await api.send('GET', '/v1/alerts/1')).data.alert.acknowledged_by).toBe('technician');
    await v.page.goto('/settings/devices');
    await v.page.getByRole('button', { name: 'Add device' }).waitFor();
    expect(await v.page.getByRole('link', { name: 'Members' }).count()).toBe(0);
    await v.leave();
  });

  it('nobody signed in reads the policies and nothing else', async () => {
    const v = await Visitor.arrive(browser, server, phone);
    await v.page.goto('/policies/privacy');
    await v.page.getByRole('heading', { name: /privacy/i }).first().waitFor();
    await v.fine('the privacy policy');
    await v.page.goto('/devices/HOT-1');
    await v.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await v.fine('sign in');
    await v.leave();
  });
});

describe('the keyboard', () => {
  it('finds, moves and closes', async () => {
    const v = await Visitor.arrive(browser, server);
    await v.signIn(people.owner!.email, people.owner!.password);
    await v.page.getByText('Never reported').first().waitFor();
    await v.page.keyboard.press('/');
    await v.page.keyboard.type('never');
    await expect.poll(() => new URL(v.page.url()).searchParams.get('q')).toBe('never');
    await v.page.goto('/settings/devices');
    await v.page.getByRole('button', { name: 'Add device' }).click();
    await v.page.getByRole('dialog').waitFor();
    await v.page.keyboard.press('Escape');
    await v.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await v.page.evaluate(() => document.activeElement?.textContent)).toContain('Add device');
    await v.leave();
  });
});
