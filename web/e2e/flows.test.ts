// What people do in the settings, at an alert and with the reports: each done in
// the browser, and looked up in the API afterwards.
import { createServer, type Server as Receiver } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import type { Locator, Page, WebSocket } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { phone, Visitor } from './browser';
import { openShop, type Shop } from './shop';

let { api, office, page, visitor: owner } = {} as Shop;
let receiver: Receiver;
let hook = '';
/** The bodies that the webhook got. */
const heard: string[] = [];

beforeAll(async () => {
  receiver = createServer((request, answer) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      heard.push(body);
      answer.end();
    });
  });
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(() => receiver?.close());
const shop = openShop({ flags: ['--outbound-allow', '127.0.0.1/32'], fill });
beforeAll(() => ({ api, office, page, visitor: owner } = shop));

async function fill({ api }: Shop) {
  await api.send('POST', '/v1/devices', { serial: 'WIF-1', name: 'Back walk-in', equipment_type: 'walkin_freezer', offline_after_s: 86_400 });
  await api.history('WIF-1', Array.from({ length: 90 }, (_, i) => (i < 10 ? -19 : -12.6)));
}

const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp, within: Page | Locator = page) => within.getByRole('button', { name, exact: typeof name === 'string' });
/** closed waits until the open dialog is done. */
const closed = () => dialog().waitFor({ state: 'detached' });

describe('notifications', () => {
  it('adds a webhook, shows its secret once, and tries it', async () => {
    await page.goto('/settings/notifications');
    await button('Add channel').first().click();
    await button(/^E-mail This server cannot send e-mail/, dialog()).waitFor(); // what cannot work here is greyed, and says why
    expect(await button(/^E-mail/, dialog()).isDisabled()).toBe(true);
    await owner.fine('the ways to be notified');
    await button(/^Slack/, dialog()).click();
    await dialog().getByLabel('Webhook URL').fill('https://example.com/hook');
    await button('Add', dialog()).click();
    await dialog().getByText('It begins with https://hooks.slack.com/services/').waitFor(); // and nothing is sent
    await owner.fine('what is wrong with what was copied');
    await button('Back', dialog()).click();
    await button(/^Webhook/, dialog()).click();
    await dialog().getByLabel('Name').fill('Night shift');
    await dialog().getByLabel('URL').fill('http://169.254.169.254/x');
    await button('Send a test', dialog()).click();
    await dialog().getByText(/It does not work: .*not allowed/).waitFor();
    await dialog().getByLabel('URL').fill(hook);
    await button('Send a test', dialog()).click();
    await dialog().getByText(/It works/).waitFor();
    await owner.fine('a test before it is saved');
    expect((await office.send('GET', '/v1/channels')).channels).toEqual([]);
    await button('Add', dialog()).click();
    await dialog().getByText(/^whsec_/).waitFor();
    await owner.fine('the secret of a webhook');
    await button('Done', dialog()).click();
    await closed();
    const tests = () => heard.filter((body) => /"test"/.test(body)).length; // beside the active alert
    const before = tests();
    await button('Send a test').click();
    await page.getByText('Works', { exact: true }).waitFor();
    await expect.poll(tests).toBe(before + 1);
    await button('Log').click();
    await dialog().getByText('Delivered').first().waitFor();
    await page.keyboard.press('Escape');
    await closed();
  });

  it('makes a route with two levels, quiet hours and a digest', async () => {
    await button('Add route').click();
    await dialog().getByLabel('Name').fill('Critical at night');
    await dialog().getByLabel('Severity').selectOption('critical');
    await dialog().getByLabel('Who').selectOption({ label: 'Night shift' });
    await button('Escalate to others', dialog()).click();
    await dialog().getByLabel('Who').nth(1).selectOption({ label: 'Night shift' });
    await dialog().getByLabel('Then, after').fill('0');
    await dialog().getByText(/must come later/).waitFor();
    expect(await button('Save', dialog()).isDisabled()).toBe(true);
    await dialog().getByLabel('Then, after').fill('20');
    await dialog().getByLabel(/Quiet hours/).check();
    await dialog().getByLabel('Quiet from').fill('21:30');
    await dialog().getByLabel(/one daily message/).check();
    await owner.fine('a route');
    await dialog().getByText(/warnings that it does not match go to nobody/).waitFor();
    await button('Save', dialog()).click();
    await closed();
    await page.getByText(/after 20\smin: Night shift/).waitFor();
    const { routes } = await office.send('GET', '/v1/routes');
    // Nobody else is forgotten by the first of them.
    expect(routes[1]).toMatchObject({ name: 'Everything else', match: {}, steps: [{ after_s: 0, channel_ids: [expect.any(Number)] }] });
    expect(routes[0]).toMatchObject({
      name: 'Critical at night', match: { severities: ['critical'] }, quiet_hours: { from: '21:30', to: '06:00' }, digest_at: '07:30',
      steps: [{ after_s: 0 }, { after_s: 1200 }],
    });
  });
});

describe('an alert', () => {
  it('is silenced', async () => {
    await page.goto('/alerts/1');
    await button('Silence').click();
    await dialog().getByLabel('Why').fill('The door is being repaired');
    expect(await button('Silence', dialog()).isDisabled()).toBe(true); // nothing is chosen for anybody
    await dialog().getByLabel('What').selectOption('device');
    await page.keyboard.press('Enter');
    await closed();
    await page.goto('/settings/quiet');
    await page.locator('main').getByText('The door is being repaired').waitFor(); // the bar says it too
    const { silences } = await office.send('GET', '/v1/silences');
    expect(silences[0].match).toMatchObject({ types: ['high_temperature'], device_serials: ['WIF-1'] });
    await button('End now', page.locator('main')).click();
    await page.getByText('No silences').waitFor();
  });

  it('gets its corrective action', async () => {
    await page.goto('/alerts/1');
    await button('Record').click();
    await dialog().getByLabel('What was done').fill('Moved the goods to walk-in 2');
    expect(await button('Record', dialog()).isDisabled()).toBe(true);
    await dialog().getByLabel('Cause').fill('The door stood open');
    expect(await button('Record', dialog()).isDisabled()).toBe(true); // what became of the product is chosen for nobody
    await dialog().getByLabel('What became of the product').selectOption('Used');
    await dialog().getByLabel('Somebody else').check();
    await dialog().getByLabel('Name').fill('Ben');
    await dialog().getByLabel('Firm').fill('Polar Service');
    await owner.fine('recording what was done');
    await button('Record', dialog()).click();
    await closed();
    const record = page.getByRole('listitem').filter({ hasText: 'Moved the goods to walk-in 2' });
    await record.getByText(/^Ben \(Polar Service\), as entered by Ada/).waitFor();
    await button('Verify', record).click(); // another has done it
    await button('Verify', dialog()).click();
    await record.getByText(/verified by Ada/).waitFor();
    expect(await button('Verify', record).count()).toBe(0);
    await owner.fine('an alert with its corrective action');
  });
});

describe('the fleet', () => {
  beforeAll(() => owner.atOnce());

  it('is imported after a look at what would happen', async () => {
    await page.goto('/settings/devices');
    await button('Import CSV').click();
    const csv = 'serial,name,equipment_type\nNEW-1,Salad bar,produce_cooler\nWIF-1,Back walk-in,walkin_freezer\nno good!,Bad,\n';
    await dialog().getByLabel('CSV file').setInputFiles({ name: 'devices.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await dialog().getByText(/1 row with errors/).waitFor();
    expect((await api.send('GET', '/v1/devices')).data.devices).toHaveLength(1);
    await owner.fine('a look at an import');
    await button('Import 1 device', dialog()).click();
    await closed();
    await page.getByText('Salad bar').first().waitFor();
    await button('Retire Salad bar').click();
    await button('Retire', dialog()).click();
    await closed();
    await button('Retire Salad bar').waitFor({ state: 'detached' });
    expect((await api.send('GET', '/v1/devices')).data.devices).toHaveLength(1);
  });

  it('has maintenance planned and ended', async () => {
    await page.goto('/settings/quiet');
    await button('Plan one').click();
    await dialog().getByLabel('Devices').selectOption({ label: 'Back walk-in' });
    await dialog().getByLabel('Why').fill('Cleaning the condenser');
    await button('Plan', dialog()).click();
    await closed();
    await page.goto('/devices/WIF-1');
    await page.getByText(/In maintenance until .*Cleaning the condenser/).waitFor();
    await page.goto('/settings/quiet');
    await button('End now', page.locator('main')).click();
    await page.getByText('No maintenance planned').waitFor();
  });

  it('has maintenance planned every week', async () => {
    await button('Plan one').click();
    await dialog().getByLabel('Devices').selectOption({ label: 'Back walk-in' });
    await dialog().getByLabel('Every week').check();
    await dialog().getByText('Sat', { exact: true }).click();
    await dialog().getByLabel('Why').fill('Cleaning');
    await button('Plan', dialog()).click();
    await closed();
    await page.getByText(/^Mon–Sat 05:30–07:00, by the clock of /).waitFor();
    await button('Remove Cleaning').click();
    await button('Remove', dialog()).click();
    await closed();
    await page.getByText('No maintenance planned').waitFor();
    expect((await api.send('GET', '/v1/maintenance-windows')).data.maintenance_windows.filter((w: { plan_id: number }) => w.plan_id)).toHaveLength(0);
  });

  it('loosens the limits of a type only on purpose', async () => {
    await page.goto('/settings/limits');
    await button('Change the limits of Walk-in freezer').click();
    await dialog().getByLabel('Highest').fill('-13');
    await dialog().getByLabel('Offline after, min of silence').fill('90');
    await owner.refused('PATCH', '/api/v1/workspace', 422, () => button('Save', dialog()).click());
    await dialog().getByText(/food-safety limit/).waitFor();
    await owner.fine('limits that are loosened');
    await dialog().getByLabel('I am sure').check();
    await button('Save', dialog()).click();
    await closed();
    expect((await office.send('GET', '/v1/workspace')).workspace.limits).toMatchObject({ walkin_freezer: { temp_max: -13, offline_after_s: 5400 } });
    await button('Change the limits of Walk-in freezer').click();
    await button('Reset to defaults', dialog()).click();
    await closed();
    expect((await office.send('GET', '/v1/workspace')).workspace.limits).toEqual({});
  });

  it('has its probes calibrated', async () => {
    await page.goto('/devices/WIF-1');
    await button('Record a calibration').click();
    await dialog().getByLabel('Reference reading').fill('-19.4');
    await dialog().getByLabel('Device reading').fill('−19,1');
    await dialog().getByText('+0.30').waitFor();
    await dialog().getByLabel(/Correct readings/).check();
    await owner.fine('a calibration');
    await button('Record', dialog()).click();
    await closed();
    await page.getByText(/passed: off by \+0.30/).waitFor();
    const { calibrations } = await office.send('GET', '/v1/devices/WIF-1/calibrations');
    expect(calibrations[0]).toMatchObject({ reference: -19.4, as_found: -19.1, offset: -0.3, passed: true, performed_by: 'Ada' });
  });
});

describe('people', () => {
  it('are invited, choose a password and are in', async () => {
    await page.goto('/settings/members');
    await button('Invite').click();
    await dialog().getByLabel('E-mail').fill('ben@example.com');
    await dialog().getByLabel('Role').selectOption('technician');
    await dialog().getByLabel('E-mail').press('Enter');
    const link = (await dialog().getByTestId('invitation').textContent()) ?? '';
    await button('Done', dialog()).click();
    const ben = await Visitor.arrive(shop.browser, shop.server, phone);
    await ben.page.goto(link);
    await ben.page.getByLabel('Your name').fill('Ben');
    await ben.page.getByLabel('Choose a password').fill('another walk-in');
    await ben.page.getByRole('button', { name: 'Create account' }).click();
    await ben.page.getByText(/attention/).first().waitFor();
    await ben.leave();
    const { members } = await office.send('GET', '/v1/members');
    expect(members.find((m: { email: string }) => m.email === 'ben@example.com')).toMatchObject({ role: 'technician', name: 'Ben' });
  });

  it('change their password', async () => {
    await page.goto('/account');
    await page.getByLabel('Current password').fill('not this one');
    await page.getByLabel('New password').fill('a walk-in at four');
    await owner.refused('POST', '/api/v1/me/password', 422, () => button('Change password').click());
    await page.locator('[aria-invalid=true]').waitFor();
    await page.getByLabel('Current password').fill('a walk-in at three');
    await button('Change password').click();
    await expect.poll(() => page.getByLabel('New password').inputValue()).toBe('');
    await expect(office.send('GET', '/v1/me')).rejects.toThrow('401'); // the session that made this workspace
  });

  it('choose their units, and end their other sessions', async () => {
    await page.goto('/account');
    await owner.answered('PATCH', '/api/v1/me', () => page.getByRole('radio', { name: '°F' }).check({ force: true }));
    await page.goto('/devices/WIF-1');
    await page.getByText('°F').first().waitFor();
    await page.goto('/account');
    await owner.answered('PATCH', '/api/v1/me', () => page.getByRole('radio', { name: '°C' }).check({ force: true }));
    const elsewhere = await Visitor.arrive(shop.browser, shop.server);
    await elsewhere.signIn('ada@example.com', 'a walk-in at four');
    await elsewhere.page.getByText('Live', { exact: true }).first().waitFor();
    await page.goto('/account/sessions');
    elsewhere.endsElsewhere = true;
    await button('Sign out all others').click();
    await button('Sign out', dialog().last()).click();
    await closed();
    await expect.poll(() => page.getByText('This browser').count()).toBe(1);
    await elsewhere.page.getByRole('heading', { name: 'Sign in' }).waitFor(); // its live connection was closed
    await elsewhere.leave();
  });

  it('sign out, and nothing is asked that is refused, though the stream ends before the answer is there', async () => {
    const v = await Visitor.arrive(shop.browser, shop.server);
    let stream: WebSocket;
    v.page.on('websocket', (s) => (stream = s));
    await v.signIn('ada@example.com', 'a walk-in at four');
    await v.page.getByText('Live', { exact: true }).first().waitFor();
    await v.page.route('**/api/v1/auth/sign-out', async (route) => {
      const response = await route.fetch();
      if (!stream.isClosed()) await stream.waitForEvent('close');
      await v.drawn();
      await route.fulfill({ response });
    });
    await v.page.getByLabel('Account menu').click();
    await button('Sign out', v.page).click();
    await v.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await v.leave();
  });
});

describe('a status page', () => {
  it('is shared by a link, shows how the units are, and is withdrawn', async () => {
    await page.goto('/settings/sites');
    await button('Make a link').click();
    await dialog().getByLabel('Shows').selectOption({ label: 'All sites' });
    await button('Make the link', dialog()).click();
    const link = await dialog().getByTestId('status-link').innerText();
    await owner.fine('the link of a status page');
    await button('Done', dialog()).click();
    await closed();

    const neighbour = await Visitor.arrive(shop.browser, shop.server, phone);
    await neighbour.page.goto(link);
    await neighbour.page.getByText('Back walk-in').waitFor();
    await neighbour.page.getByText(/1 of 1 needs attention/).waitFor();
    await neighbour.page.getByText('-12.6').or(neighbour.page.getByText('−12.6')).first().waitFor();
    await neighbour.fine('a status page');

    neighbour.endsElsewhere = true; // it asks by itself, too
    await button('Withdraw').click();
    await button('Withdraw', dialog()).click();
    await closed();
    await page.getByText('There is no link yet.').waitFor();
    await neighbour.answered('GET', '/api/v1/status', () => neighbour.page.reload(), (status) => status === 401);
    await neighbour.page.getByText('This link does not work').waitFor();
    expect(await neighbour.page.getByText('Back walk-in').count()).toBe(0);
    await neighbour.fine('a link that was withdrawn');
    await neighbour.leave();
  });
});

describe('the audit log', () => {
  it('is read page by page, and by area', async () => {
    for (let i = 0; i < 55; i++) await api.send('PATCH', '/v1/devices/WIF-1', { notes: `Note ${i}` });
    await page.goto('/settings/audit');
    await page.getByText('The chain is intact').waitFor();
    expect(await button('Newer').isDisabled()).toBe(true);
    await button('Older').click();
    await page.getByText(/^Page 2/).waitFor();
    await expect.poll(() => button('Newer').isEnabled()).toBe(true);
    await page.getByLabel('Area').selectOption('token');
    await page.getByText(/^Page 1/).waitFor();
    await page.getByText('Token created').first().waitFor();
    await page.getByText('Device updated').first().waitFor({ state: 'detached' });
    await owner.fine('the audit log');
  });
});

describe('the temperature log', () => {
  it.each([
    ['PDF', '%PDF-'],
    ['CSV', ''],
  ])('comes as %s', async (name, begins) => {
    await page.goto('/reports');
    await page.getByText('Back walk-in').first().waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
    const file = await readFile(await download.path(), 'latin1');
    expect(file.startsWith(begins)).toBe(true);
    if (name === 'CSV') expect(file).toContain('WIF-1');
    expect(download.suggestedFilename()).toMatch(/\.(pdf|csv)$/);
  });
});
