// Every page on a phone and on a desktop, in the light and the dark, in English and Spanish:
// nothing that keeps people with disabilities out, nothing wider than the window, no
// error in the console, and names that try to break it. And every page while it
// loads, when the server fails, and in a workspace where there is nothing yet.
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { desktop, launch, none, phone, Visitor } from './browser';
import { gate } from './gate';
import { patience } from './patience';
import { Api, Office, Server, type Person } from './server';

const markup = '<img src=x onerror="document.title=1">&amp;<b>"\'';
const arabic = 'ثلاجة اللحوم \u202Eabc';
const endless = 'W'.repeat(64);

let server: Server;
let browser: Browser;
let api: Api;
let office: Office;
const people: Record<string, Person> = {};

beforeAll(async () => {
  [server, browser] = await Promise.all([Server.start('--outbound-allow', '127.0.0.1/32'), launch()]);
  office = new Office(server.url);
  people.owner = await office.open(server.code);
  people.viewer = await office.hire('viewer');
  people.technician = await office.hire('technician');
  api = new Api(server.url, await office.token());
  const { site } = await office.send('POST', '/v1/sites', { name: markup, timezone: 'Europe/Berlin', address: endless });
  const devices = [
    { serial: 'HOT-1', name: markup, equipment_type: 'walkin_freezer', site_id: site.id },
    { serial: 'RTL-1', name: arabic, equipment_type: 'meat_cooler', site_id: site.id },
    { serial: endless, name: endless, equipment_type: 'no_such_type', labels: { [endless]: markup } },
    { serial: 'AHEAD-1', name: 'Clock ahead', equipment_type: 'walkin_cooler' },
    { serial: 'NEVER-1', name: 'Never reported', equipment_type: 'walkin_cooler' },
  ];
  for (const d of devices) await api.send('POST', '/v1/devices', { ...d, offline_after_s: 86_400 });
  await api.history('HOT-1', Array.from({ length: 90 }, (_, i) => (i < 10 ? -19 : -12.6)));
  await api.history('RTL-1', Array.from({ length: 90 }, () => 2));
  await api.history(endless, Array.from({ length: 5 }, () => 1.5));
  await api.send('POST', '/v1/readings', { device_serial: 'AHEAD-1', recorded_at: new Date(Date.now() + 4 * 60_000).toISOString(), product_zone_temp: 3 });
  await api.send('POST', '/v1/readings', { device_serial: 'WAITS-1', product_zone_temp: 3 }); // nobody has registered it
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
  ['/?q=zzz', /^No matching devices$/],
  ['/devices/HOT-1', /Product zone/],
  ['/devices/AHEAD-1', /Its clock is [34]\smin .*ahead/],
  ['/devices/NEVER-1', /Never reported/],
  [`/devices/${endless}`, /WWWW/],
  ['/?view=table', /Age|State/],
  ['/compare?devices=HOT-1,RTL-1', /Highest/],
  ['/connect', /What do you have/],
  ['/sites', /Need attention/],
  ['/sites/1', /Who would be called now/],
  ['/alerts', /too warm/i],
  ['/alerts?status=all', /Resolved/],
  ['/alerts/1', /Timeline/],
  ['/cases', /Every excursion/],
  ['/work', /service firms are asked/],
  ['/rounds', /confirm what its sensor says/],
  ['/reports', /Temperature log/],
  ['/account', /Password/],
  ['/account/sessions', /This browser/],
  ['/account/security', /Second factor|code/],
  ['/account/tokens', /Full access/],
  ['/settings/devices', /HOT-1/],
  ['/settings/sources', /No sources yet/],
  ['/settings/limits', /Walk-in freezer/],
  ['/settings/sites', /Europe\/Berlin/],
  ['/settings/members', /technician@example.com/],
  ['/settings/notifications', /Routes/],
  ['/settings/webhooks', /No program is called yet/],
  ['/settings/quiet', /until/],
  ['/settings/rounds', /There is no round yet/],
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

describe.each(['en', 'es'])('in %s', (language) => {
  let visitor: Visitor;
  beforeAll(async () => {
    await office.send('PATCH', '/v1/me', { language });
    visitor = await Visitor.arrive(browser, server, phone);
    await visitor.signIn(people.owner!.email, people.owner!.password);
    // Another language begins with a new page, which would interrupt the way to the next.
    await visitor.page.locator(`html[lang=${language}] a[href$="/devices/HOT-1"]`).first().waitFor();
  });
  afterAll(() => visitor?.leave());

  // Every other page is loaded on a phone and looked at on a desktop afterwards, the rest the other way round.
  it.each(pages.map(([path, shows], i) => [path, shows, i % 2 ? [phone, desktop] : [desktop, phone]] as const))('%s', async (path, shows, sizes) => {
    const { page } = visitor;
    await page.setViewportSize(sizes[0]!);
    if (language === 'en' || process.env.EVERY) {
      await page.goto(path);
      await visitor.settled();
      expect(await visitor.shift(), 'layout shift').toBeLessThan(0.05);
    } else await visitor.to(path);
    for (const size of sizes) {
      await page.setViewportSize(size);
      await visitor.drawn();
      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      if (language === 'en') await page.getByText(shows).filter({ visible: true }).first().waitFor();
      // By axe in the light on a phone and in the dark on a desktop, in English: the words change nothing that it finds.
      if (process.env.EVERY) await visitor.fineIn(path, ['light', 'dark']);
      else if (language === 'en') await visitor.fineIn(path, size === phone ? ['light'] : ['dark']);
      else await visitor.tidy(path);
    }
  });
});

const signedIn = pages.map(([path]) => path).filter((p) => !/^\/(status|send|nowhere)/.test(p));

// In whatever order the answers come, what stands on the page stays where it is: some pages, with EVERY=1 each, by an order drawn once. SEED=2,3 draws others.
describe('answers in an order drawn by a seed', () => {
  let small: Visitor, large: Visitor;
  beforeAll(async () => {
    await office.send('PATCH', '/v1/me', { language: 'en' });
    [small, large] = await Promise.all([phone, desktop].map((v) => Visitor.arrive(browser, server, v)));
    for (const v of [small, large]) await v.signIn(people.owner!.email, people.owner!.password);
  });
  afterAll(() => Promise.all([small?.leave(), large?.leave()]));

  const seeds = (process.env.SEED ?? '1').split(',').map(Number);
  const asking = process.env.EVERY ? signedIn : ['/', '/devices/HOT-1', '/alerts/1', '/sites/1', '/settings/notifications'];
  it.each(seeds.flatMap((seed) => asking.map((path, i) => [path, (i + seed) % 2 ? 'phone' : 'desktop', seed] as const)))('do not move %s on a %s, by seed %i', async (path, where, seed) => {
    const v = where === 'phone' ? small : large;
    const order = await v.oneByOne(seed);
    await v.page.goto(path);
    const came = await order.all();
    expect(await v.shift(), `layout shift: ${came.join(', ')}`).toBeLessThan(0.05);
  });
});

// However late an answer comes, what stands on the page stays where it is.
describe('an answer that comes last', () => {
  it.each([
    ['/settings/limits', '/api/v1/devices', '/api/v1/workspace', phone],
    ['/reports', '/api/v1/reports/temperature-log', '/api/v1/devices', desktop],
  ])('does not move %s', async (path, late, before, viewport) => {
    await office.send('PATCH', '/v1/me', { language: 'en' });
    const v = await Visitor.arrive(browser, server, viewport);
    await v.signIn(people.owner!.email, people.owner!.password);
    const rest = gate();
    await v.page.route((url) => url.pathname === late, (route) => rest.passed.then(() => route.continue()));
    const answered = v.page.waitForResponse((r) => new URL(r.url()).pathname === before);
    await v.page.goto(path);
    await answered;
    await v.page.locator('[aria-busy=true] .skeleton').first().waitFor();
    await v.drawn();
    rest.open();
    await v.settled();
    expect(await v.shift(), 'layout shift').toBeLessThan(0.05);
    await v.leave();
  });
});

// A chart that is asked for again stands until the new one is there, and is read meanwhile.
describe('the charts of a device', () => {
  let v: Visitor;
  const readings = (url: URL) => url.pathname === '/api/v1/devices/HOT-1/readings';
  beforeEach(async () => {
    await office.send('PATCH', '/v1/me', { language: 'en' });
    v = await Visitor.arrive(browser, server, desktop);
    await v.page.clock.install();
    await v.signIn(people.owner!.email, people.owner!.password);
    await v.page.goto('/devices/HOT-1');
    await v.page.locator('canvas').first().waitFor();
    await v.settled();
    await v.page.route(readings, () => {}); // never answered
  });
  afterEach(() => v?.leave());

  it('can be read while another span is on its way', async () => {
    await v.page.getByRole('button', { name: '7 d' }).click();
    await v.page.locator('[aria-busy=true] canvas').first().waitFor();
    none(await v.flaws(), 'axe');
  });

  it('stand still while the same span is asked for again', async () => {
    const asked = v.page.waitForRequest((r) => readings(new URL(r.url())));
    await v.page.clock.fastForward(300_000);
    await asked;
    await v.drawn();
    expect(await v.page.locator('[aria-busy=true]').count()).toBe(0);
    none(await v.flaws(), 'axe');
  });
});

describe('the weight', () => {
  // Of a calm page: what it says while nobody would be told, or a silence holds, comes when that is so.
  beforeAll(async () => {
    const receiver = createServer((request, answer) => request.resume().on('end', () => answer.end()));
    await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
    const { channel } = await office.send('POST', '/v1/channels', { kind: 'webhook', name: 'Works', url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });
    await office.send('POST', `/v1/channels/${channel.id}/test`);
    for (const s of (await office.send('GET', '/v1/silences')).silences) await office.send('POST', `/v1/silences/${s.id}/end`);
    receiver.close();
    expect((await api.send('GET', '/v1/notifications/coverage')).data.coverage).toMatchObject({ reachable: true, silences: [] });
  });

  // What a phone has to read before the page can be used, as gzip makes it: of what the page has loaded by itself.
  it.each([
    ['/', 'en', 63_400, 'a[href$="/devices/HOT-1"]'],
    ['/', 'es', 66_800, 'a[href$="/devices/HOT-1"]'],
    ['/devices/HOT-1', 'en', 116_200, 'canvas'],
  ])('%s in %s: JavaScript of at most %i bytes', async (path, language, most, usable) => {
    await office.send('PATCH', '/v1/me', { language });
    const v = await Visitor.arrive(browser, server, phone);
    await v.signIn(people.owner!.email, people.owner!.password);
    await v.page.locator(`html[lang=${language}]`).waitFor();
    // A page of its own: what signing in has loaded is not asked for again, and is not of this page.
    await v.page.goto(path);
    await v.settled();
    await v.page.locator(usable).first().waitFor();
    const names = await v.page.evaluate(() => performance.getEntriesByType('resource').map((r) => new URL(r.name).pathname).filter((p) => p.endsWith('.js')));
    expect(names.length).toBeGreaterThan(2);
    const dist = '../internal/webui/dist';
    const size = (name: string) => statSync(existsSync(`${dist}${name}.gz`) ? `${dist}${name}.gz` : dist + name).size;
    expect(names.map(size).reduce((a, b) => a + b)).toBeLessThanOrEqual(most);
    await v.leave();
  });
});

describe('before its code is there', () => {
  const asked = ['alerts?status=active&per_page=100', 'devices/health/summary', 'devices?per_page=100&attention=true', 'devices?per_page=60', 'equipment-types', 'me', 'setup', 'sites'];

  it.each([
    ['/', 'owner', ['sources']],
    ['/', 'viewer', []],
    ['/reports', 'owner', []],
  ])('%s asks for what the %s sees first, once', async (path, who, more) => {
    const v = await Visitor.arrive(browser, server, phone);
    await v.signIn(people[who]!.email, people[who]!.password);
    const seen: string[] = [];
    await v.page.goto('about:blank'); // or the page before it would go on asking
    // Where the stream is not there within a second, all is asked once more when it is: here it has a minute.
    await v.page.addInitScript(() => {
      const timer = setTimeout;
      window.setTimeout = ((then: () => void, ms?: number) => timer(then, ms === 1000 ? 60_000 : ms)) as typeof setTimeout;
    });
    v.page.on('request', (r) => seen.push(r.url().slice(server.url.length)));
    const questions = () => seen.filter((s) => s.startsWith('/api/v1/')).map((s) => s.slice('/api/v1/'.length));
    const code = gate();
    await v.page.route(/\/assets\/core-.*\.js$/, (route) => code.passed.then(() => route.continue()));
    await v.page.goto(path, { waitUntil: 'commit' });
    const ahead = [...asked, ...more].sort();
    await expect.poll(() => questions().sort(), { timeout: patience }).toEqual(ahead);
    expect(seen.some((s) => s.startsWith('/assets/Overview-'))).toBe(path === '/');
    code.open();
    await v.settled();
    await v.page.getByText('Live', { exact: true }).waitFor();
    expect(questions().filter((q) => ahead.includes(q)).sort()).toEqual(ahead);
    await v.quiet(path);
    await v.leave();
  });
});

describe('while the page', () => {
  let v: Visitor;
  beforeAll(async () => {
    await office.send('PATCH', '/v1/me', { language: 'en' });
    v = await Visitor.arrive(browser, server, phone);
    await v.signIn(people.owner!.email, people.owner!.password);
    v.failing = true;
  });
  afterAll(() => v?.leave());
  // Who is there is answered: without that everybody is sent to the door.
  const rest = /\/api\/v1\/(?!setup$|me$)/;
  // Without an answer every device and every search looks alike.
  const different = signedIn.filter((path) => !/^\/(\?q|devices\/(?!HOT))/.test(path));

  it.each(different)('%s loads, and then fails, it has its heading and title, and is fine', async (path) => {
    const answers = gate();
    await v.page.route(rest, (route) => answers.passed.then(() => route.fulfill({ status: 500, json: { success: false, error: { code: 'internal', message: 'Something broke.', request_id: 'r-1' } } })));
    await v.page.goto(path);
    await v.page.locator('h1').filter({ visible: true }).first().waitFor();
    await v.fine(`${path} while it loads`);
    answers.open();
    await v.settled();
    await v.fine(`${path} while the server fails`);
    await v.page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('/labels has no code yet, it has no flaw', async () => {
    await v.page.route(/\/assets\/Labels-.*\.js$/, () => {}); // never answered
    await v.page.goto('/labels');
    await v.page.getByRole('main').getByRole('heading', { name: 'Loading…' }).waitFor();
    none(await v.flaws(), 'axe');
    await v.page.unrouteAll({ behavior: 'ignoreErrors' });
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
    await v.settled();
    expect(await v.page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
    await v.page.goto('/settings/members');
    await v.page.getByText('You do not have access').waitFor();
    await v.page.goto('/account/tokens');
    await v.page.getByRole('heading', { name: 'Profile' }).waitFor();
    await v.settled();
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
    await expect.poll(() => v.page.evaluate(() => document.activeElement?.textContent)).toContain('Add device');
    await v.leave();
  });
});
