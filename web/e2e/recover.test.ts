// What happens to people at three in the morning while a page is open: it says what is so, comes back by itself, and loses
// nothing that was typed.
import type { Page } from 'playwright-core';
import type { Schemas } from '../src/api/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { Visitor } from './browser';
import { gate } from './gate';
import { Office } from './server';
import { openShop, type Shop } from './shop';

const sites: Record<string, number> = {};
let { api, browser, office, owner, page, server, visitor } = {} as Shop;
const shop = openShop({
  fill: async ({ api, office }) => {
    for (const name of ['Mill', 'Harbour']) sites[name] = (await office.send('POST', '/v1/sites', { name, timezone: 'Asia/Tokyo' })).site.id;
    for (const [serial, site] of [['WIC-1', 'Mill'], ['WIC-2', 'Harbour'], ['WIC-3', 'Mill']] as const) {
      await api.send('POST', '/v1/devices', { serial, name: `Walk-in ${serial.slice(4)}`, equipment_type: 'walkin_cooler', site_id: sites[site], offline_after_s: 86_400 });
      await api.history(serial, Array.from({ length: 90 }, () => (serial === 'WIC-1' ? 12 : 3)));
    }
  },
});
beforeAll(() => ({ api, browser, office, owner, page, server, visitor } = shop));

const live = (p: Page) => p.getByText('Live', { exact: true }).first().waitFor();
const shown = (text: string) => page.getByText(text).filter({ visible: true }).first();
const dialog = (p: Page) => p.getByRole('dialog');

/** meBecomes has the server say of the person what change makes of it. */
const meBecomes = (change: (me: Schemas['Me']) => void) =>
  page.route('**/api/v1/me', async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    change(json.data);
    await route.fulfill({ response, json });
  });

async function arrive(person: { email: string; password: string }): Promise<Visitor> {
  const v = await Visitor.arrive(browser, server);
  await v.signIn(person.email, person.password);
  await live(v.page);
  return v;
}

describe('two tabs in two workspaces', () => {
  it('stay where they are, and a link of before finds the one that has what is meant', async () => {
    const bea = { email: 'bea@example.com', password: 'a fish counter at four' };
    server.run(bea.password, 'user', 'add', bea.email, '--workspace', 'Another Shop', '--create', '--role', 'owner', '--password-stdin');
    const [theirs, mine] = [new Office(server.url), new Office(server.url)];
    await theirs.send('POST', '/v1/auth/sign-in', bea);
    const person = await office.hire('viewer'); // another than the one whom the rest is about
    const { secret } = await theirs.send('POST', '/v1/members', { email: person.email, role: 'admin' });
    await mine.send('POST', '/v1/auth/sign-in', person);
    await mine.send('POST', '/v1/me/invitations', { secret });
    const v = await arrive(person);
    await v.page.goto('/w/corner-shop/devices/WIC-3');
    await live(v.page);
    v.nothingAt = /OTHER-1|WIC-1|NOBODYS/; // each of the two is asked
    const other = await v.page.context().newPage();
    await other.goto('/w/another-shop/settings/devices');
    await live(other);
    await other.getByText('Another Shop').filter({ visible: true }).first().waitFor();
    await other.getByRole('button', { name: 'Add device' }).first().waitFor();
    await other.evaluate(() => fetch('/api/v1/devices', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Rimewatch-Workspace': 'another-shop' }, body: '{"serial":"OTHER-1","name":"Their freezer","equipment_type":"walkin_freezer"}' }));
    await other.getByText('Their freezer').first().waitFor();
    // What is done in one is done in its own workspace, and the other goes on with its own.
    await v.page.bringToFront();
    await v.page.evaluate(() => dispatchEvent(new Event('focus')));
    await v.page.getByRole('link', { name: 'Overview' }).filter({ visible: true }).first().click();
    await v.page.waitForURL('**/w/corner-shop/');
    await v.page.getByText('Walk-in 1').first().waitFor();
    expect(await v.page.getByText('Their freezer').count()).toBe(0);
    for (const [at, was, is] of [
      [v.page, '/devices/OTHER-1', '/w/another-shop/devices/OTHER-1'],
      [other, '/devices/WIC-1', '/w/corner-shop/devices/WIC-1'],
    ] as const) {
      await at.goto(was);
      await at.waitForURL('**' + is);
      await live(at);
    }
    await other.goto('/devices/NOBODYS');
    await other.getByRole('heading', { name: 'Which workspace is meant?' }).waitFor();
    await other.getByRole('button', { name: 'Another Shop' }).click();
    await other.waitForURL('**/w/another-shop/devices/NOBODYS');
    await other.close();
    await v.leave();
  });
});

describe('rights that are taken away', () => {
  it('take the buttons and the devices with them', async () => {
    const person = await office.hire('technician');
    const { user_id } = (await office.send('GET', '/v1/members')).members.find((m: { email: string }) => m.email === person.email);
    const v = await arrive(person);
    await v.page.getByText('Walk-in 2').first().waitFor();
    await v.page.getByRole('link', { name: 'Connect a device' }).waitFor();
    v.endsElsewhere = true; // it may ask before it has heard
    v.nothingAt = /WIC-2/;
    await office.send('PATCH', `/v1/members/${user_id}`, { role: 'viewer' });
    await v.page.getByRole('link', { name: 'Connect a device' }).waitFor({ state: 'detached' });
    await v.page.getByText('Walk-in 2').first().waitFor();
    await live(v.page);
    await office.send('PATCH', `/v1/members/${user_id}`, { site_ids: [sites.Mill] });
    await v.page.getByText('Walk-in 2').first().waitFor({ state: 'detached' });
    await v.page.getByText('Walk-in 1').first().waitFor();
    await live(v.page);
    await v.leave();
  });
});

describe('two people', () => {
  it('who acknowledge one alert at once see one of them', async () => {
    const other = await arrive(await office.hire('admin'));
    const pages = [page, other.page];
    await Promise.all(pages.map((p) => p.goto('/alerts')));
    const button = (p: Page) => p.getByRole('button', { name: 'Acknowledge', exact: true });
    await Promise.all(pages.map((p) => button(p).waitFor()));
    // Neither comes to the server before both have pressed.
    let pressed = 0;
    const both = gate();
    for (const p of pages) await p.route('**/acknowledge', (route) => {
      if (++pressed === 2) both.open();
      return both.passed.then(() => route.continue());
    });
    await Promise.all([visitor, other].map((v) => v.answered('POST', '/api/v1/alerts/1/acknowledge', () => button(v.page).click())));
    const by = (await api.send('GET', '/v1/alerts/1')).data.alert.acknowledged_by;
    expect(['Ada', 'admin']).toContain(by);
    for (const p of pages) await p.getByText(`${by} is dealing with this`).waitFor();
    await other.leave();
  });

  it('of whom one deletes what the other edits', async () => {
    // A site that is gone is named beside its field; what was typed stays.
    const { id } = (await office.send('POST', '/v1/sites', { name: 'Pier', timezone: 'Asia/Tokyo' })).site;
    await page.goto('/devices/WIC-3');
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog(page).getByLabel('Name').fill('Fish');
    await dialog(page).locator('label', { hasText: /^Site/ }).locator('select').selectOption({ label: 'Pier' });
    await office.send('DELETE', `/v1/sites/${id}`);
    await visitor.refused('PATCH', '/api/v1/devices/WIC-3', 422, () => dialog(page).getByRole('button', { name: 'Save' }).click());
    await dialog(page).locator('label', { hasText: /^Site/ }).locator('.text-critical').waitFor();
    expect(await dialog(page).getByLabel('Name').inputValue()).toBe('Fish');
    visitor.nothingAt = /WIC-3/;
    await api.send('DELETE', '/v1/devices/WIC-3');
    await page.getByRole('heading', { name: 'Device WIC-3 not found' }).waitFor();
    await page.goto('/'); // or the page asks for what is gone once a minute
    await visitor.quiet('a device that was deleted');
    visitor.nothingAt = /^$/;
  });
});

describe('a form that is open for a while', () => {
  it('keeps what is typed when the page asks for the device anew', async () => {
    const v = await Visitor.arrive(browser, server);
    await v.page.clock.install();
    await v.signIn(owner.email, owner.password);
    await v.page.goto('/devices/WIC-2');
    await v.settled(); // or what it asks first is taken for what it asks anew
    await v.page.getByRole('button', { name: 'Edit' }).click();
    await dialog(v.page).getByLabel('Notes').fill('The seal of the door is torn');
    const again = v.page.waitForResponse((r) => new URL(r.url()).pathname === '/api/v1/devices/WIC-2/prediction');
    await v.page.clock.fastForward(61_000);
    await (await again).finished(); // asked for after the device
    await v.drawn();
    expect(await dialog(v.page).getByLabel('Notes').inputValue()).toBe('The seal of the door is torn');
    await v.leave();
  });
});

describe('an answer that was long on its way', () => {
  it('is not shown of the device that is looked at by then', async () => {
    const later = gate();
    await page.route('**/api/v1/devices/WIC-1', async (route) => {
      await later.passed;
      await route.fulfill({ status: 404, json: { success: false, data: {}, error: { code: 'device_not_found', message: 'No such device.', fields: {}, request_id: '' } } });
    });
    visitor.nothingAt = /WIC-1/;
    await page.goto('/devices/WIC-1', { waitUntil: 'commit' });
    await Promise.all([
      page.waitForRequest(/devices\/WIC-1$/),
      page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' }),
    ]);
    await page.evaluate(() => {
      history.pushState({}, '', '/devices/WIC-2');
      dispatchEvent(new PopStateEvent('popstate'));
    });
    await page.getByRole('heading', { name: 'Walk-in 2' }).waitFor();
    await Promise.all([page.waitForResponse(/devices\/WIC-1$/), later.open()]);
    await visitor.drawn();
    await page.getByRole('heading', { name: 'Walk-in 2' }).waitFor();
    await visitor.quiet('another device');
    await page.unroute('**/api/v1/devices/WIC-1');
    visitor.nothingAt = /^$/;
  });
});

describe('a note on which no answer came', () => {
  it('is kept, and once on the alert when it is sent again', async () => {
    await page.goto('/alerts/1');
    await page.getByRole('button', { name: 'Note', exact: true }).click();
    await dialog(page).getByLabel('Note').fill('Moved everything');
    visitor.cutOff = true;
    await page.route('**/api/v1/alerts/1/notes', async (route) => {
      await route.fetch(); // it arrives, and the answer does not
      await route.abort();
    });
    await dialog(page).getByRole('button', { name: 'Save note' }).click();
    await dialog(page).getByText('The server cannot be reached.').waitFor();
    expect(await dialog(page).getByLabel('Note').inputValue()).toBe('Moved everything');
    await page.unroute('**/api/v1/alerts/1/notes');
    await dialog(page).getByRole('button', { name: 'Save note' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    await visitor.quiet('a note that is sent again');
    visitor.cutOff = false;
    const { transitions } = (await api.send('GET', '/v1/alerts/1/timeline')).data;
    expect(transitions.filter((t: { note: string | null }) => t.note === 'Moved everything')).toHaveLength(1);
  });
});

describe('a silence and a maintenance window on which no answer came', () => {
  it.each([
    ['Silence', 'Silence', 'silences'],
    ['Plan one', 'Plan', 'maintenance-windows'],
  ])('%s: is made once when the button is pressed again', async (opens, sends, of) => {
    await page.goto('/settings/quiet');
    await page.getByRole('button', { name: opens, exact: true }).click();
    await dialog(page).getByLabel('Devices').selectOption({ index: 1 });
    await dialog(page).getByLabel('Why').fill('The technician is here');
    visitor.cutOff = true;
    await page.route(`**/api/v1/${of}`, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await dialog(page).getByRole('button', { name: sends, exact: true }).click();
    await dialog(page).getByText('The server cannot be reached.').waitFor();
    await page.unroute(`**/api/v1/${of}`);
    await dialog(page).getByRole('button', { name: sends, exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    await visitor.quiet(of);
    visitor.cutOff = false;
    expect(Object.values((await office.send('GET', `/v1/${of}`)) as Record<string, unknown[]>).find(Array.isArray)).toHaveLength(1);
  });
});

describe('a server that does not answer as it should', () => {
  const refusal = { status: 429, json: { success: false, data: {}, error: { code: 'rate_limited', message: 'Too many requests.', fields: {}, request_id: '' } } };
  it.each([
    ['has too much to do', refusal],
    ['is behind a network that wants a password first', { status: 200, contentType: 'text/html', body: '<html>Welcome to the hotel</html>' }],
  ])('%s: the page loads by itself when that is over', async (_, answer) => {
    const v = await Visitor.arrive(browser, server);
    v.busy = true;
    await v.page.route('**/api/v1/**', (route) => route.fulfill(answer));
    await v.page.goto('/');
    await v.page.getByRole('alert').waitFor();
    expect(await v.page.getByText('hotel').count()).toBe(0);
    await v.page.unrouteAll({ behavior: 'ignoreErrors' });
    await v.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await v.quiet('a server that answers again');
    v.busy = false;
    await v.leave();
  });
});

describe('a server that was updated', () => {
  /** updated has the server's document name another script, and the connection to it lost and found. */
  async function updated(v: Visitor) {
    await v.page.route(server.url + '/', async (route) => {
      if (route.request().isNavigationRequest()) return route.continue();
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replace(/\/assets\/(index|core|main)[^"]*\.js/g, '/assets/$1-of-tomorrow.js') });
    });
    await v.page.evaluate(() => dispatchEvent(new Event('online')));
  }

  it('offers people its new pages, and is no news when it has none', async () => {
    const v = await arrive(owner);
    const asked = v.page.waitForResponse((r) => r.url() === server.url + '/' && !r.request().isNavigationRequest());
    await v.page.evaluate(() => dispatchEvent(new Event('online')));
    await (await asked).finished();
    await live(v.page);
    await v.drawn();
    const reload = v.page.getByRole('button', { name: 'New version, reload' });
    expect(await reload.count()).toBe(0);
    await updated(v);
    await reload.waitFor();
    await v.fine('a new version');
    await Promise.all([v.page.waitForEvent('load'), reload.click()]);
    await live(v.page);
    expect(await reload.count()).toBe(0);
    await v.leave();
  });

  it('has its wall loaded anew by itself', async () => {
    const v = await arrive(owner);
    await v.page.goto('/wall');
    await live(v.page);
    await Promise.all([v.page.waitForEvent('load'), updated(v)]);
    await live(v.page);
    await v.leave();
  });
});

describe('a browser that keeps nothing', () => {
  it('shows the fleet like any other', async () => {
    const v = await Visitor.arrive(browser, server);
    await v.page.addInitScript(() => {
      const refuse = () => {
        throw new DOMException('refused', 'SecurityError');
      };
      Object.defineProperty(window, 'localStorage', { get: refuse });
      for (const name of ['open', 'match', 'delete', 'has', 'keys']) (caches as unknown as Record<string, unknown>)[name] = async () => refuse();
    });
    await v.signIn(owner.email, owner.password);
    await live(v.page);
    await v.page.getByText('Walk-in 2').first().waitFor();
    await v.page.goto('/devices/WIC-2');
    await v.page.getByRole('heading', { name: 'Walk-in 2' }).waitFor();
    await v.settled();
    await v.leave();
  });
});

describe('a session that ends while something is typed', () => {
  it('leaves it there for whoever signs in again', async () => {
    const v = await arrive(owner);
    await v.page.goto('/devices/WIC-2');
    await v.page.getByRole('button', { name: 'Edit' }).click();
    await dialog(v.page).getByLabel('Notes').fill('The seal of the door is torn');
    v.endsElsewhere = true;
    visitor.endsElsewhere = true;
    const elsewhere = new Office(server.url);
    await elsewhere.send('POST', '/v1/auth/sign-in', owner);
    await elsewhere.send('DELETE', '/v1/me/sessions');
    const door = v.page.getByRole('dialog', { name: 'Sign in' });
    await door.getByText(/What you had typed is still there/).waitFor();
    expect(await v.page.evaluate(() => document.elementFromPoint(innerWidth / 2, 5)?.closest('dialog')?.getAttribute('aria-labelledby'))).toBe('gate'); // it covers the page
    expect(await v.flaws()).toEqual([]);
    await v.page.keyboard.press('Escape');
    await door.getByLabel('E-mail').fill(owner.email);
    await door.getByLabel('Password').fill(owner.password);
    await door.getByRole('button', { name: 'Sign in' }).click();
    await door.waitFor({ state: 'detached' });
    await v.quiet('signed in again');
    v.endsElsewhere = false;
    expect(await dialog(v.page).getByLabel('Notes').inputValue()).toBe('The seal of the door is torn');
    await dialog(v.page).getByRole('button', { name: 'Save' }).click();
    await v.page.getByText('The seal of the door is torn').waitFor();
    await live(v.page);
    await v.leave();
    // The first window was signed out with it, and shows nothing: nothing was typed there.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
