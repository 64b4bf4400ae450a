// A shopkeeper's first evening, as docs/what-wakes-you.md tells it: set-up, connect, who
// is woken, a test, the phone, in each language. What is pressed here in English is what the guide says.
import { readFileSync } from 'node:fs';
import { createServer, type Server as Receiver } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../scripts/languages.mjs';
import { desktop, launch, phone, Visitor } from './browser';
import { Server } from './server';

const text = readFileSync('../docs/what-wakes-you.md', 'utf8');
const guide = text.slice(text.indexOf('## The first evening'), text.indexOf('## Why not'));

describe.each(['en-GB', 'es-ES'])('in %s', (locale) => {
  const language = locale.slice(0, 2);
  let server: Server;
  let browser: Browser;
  let receiver: Receiver;
  let owner: Visitor;
  let page: Page;
  /** What came to the owner's channel. */
  const heard: { event?: string; type?: string }[] = [];
  let key = '';

  beforeAll(async () => {
    receiver = createServer((request, answer) => {
      let body = '';
      request.on('data', (part) => (body += part));
      request.on('end', () => {
        heard.push(JSON.parse(body));
        answer.end();
      });
    });
    await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
    [server, browser] = await Promise.all([Server.start('--outbound-allow', '127.0.0.1/32'), launch()]);
    owner = await Visitor.arrive(browser, server, desktop, { locale });
    page = owner.page;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    receiver?.close();
  });

  /** said is a text of the pages in the browser's language. */
  function said(english: string): string {
    const own = language === 'en' ? english : catalogue(language).texts[english];
    expect(own, english).toBeTruthy();
    return own;
  }

  /** guided fails when the guide does not have a name: who follows it finds what it says. */
  function guided(name: string) {
    expect(guide.replace(/\s+/g, ' ')).toMatch(new RegExp(`[*]${name}[*]`));
  }

  /** told is a name that the guide has, too. */
  function told(name: string): string {
    guided(name);
    return said(name);
  }
  const dialog = () => page.getByRole('dialog');
  const send = (temperature: number, minutesAgo = 0) =>
    fetch(key, { method: 'POST', body: JSON.stringify({ id: 'probe-1', temperature, timestamp: new Date(Date.now() - minutesAgo * 60_000).toISOString() }) }).then((r) => expect(r.status).toBe(200));

  it('1: the code from the log opens the door', async () => {
    await page.goto('/');
    await page.getByLabel(said('One-time code')).fill(server.code);
    await page.getByLabel(said('Workspace')).fill('Corner Shop');
    await page.getByLabel(said('Time zone')).fill('Europe/Berlin');
    await page.getByLabel(said('Your name')).fill('Ada');
    await page.getByLabel(said('E-mail')).fill('ada@example.com');
    await page.getByLabel(said('Password')).fill('a walk-in at three');
    await page.getByRole('button', { name: told('Set up') }).click();
    await page.waitForURL(server.url + '/w/corner-shop/');
  });

  it('2: a sensor is connected, and its first reading arrives', async () => {
    await page.getByRole('link', { name: told('Connect a device') }).first().click();
    await page.getByRole('button', { name: new RegExp(said('Something else')) }).click();
    await page.getByRole('button', { name: told('Make its address') }).click();
    key = (await page.getByTestId('to-copy').first().textContent()) ?? '';
    await send(-19.4, 95);
    const card = page.locator('[data-sender="probe-1"]');
    await card.getByLabel(said('Name')).fill('Back freezer');
    await card.getByLabel(said('Equipment')).selectOption('walkin_freezer');
    await card.getByRole('button', { name: told('Accept') }).click();
    await page.getByRole('heading', { name: 'Back freezer' }).waitFor();
    await page.getByText(language === 'es' ? /−30 a −15/ : /−30 to −15/).first().waitFor(); // the limits come with the type
    await owner.fine('the first device');
  });

  it('3: who is woken is chosen, and tried', async () => {
    // Until then the pages say that nobody is.
    await page.goto('/alerts');
    await page.getByText(said('Nobody would be told of an alert: there is no way to notify anybody yet.')).waitFor();
    await owner.fine('alerts that nobody is told of');
    await page.goto('/');
    await page.getByText(said('Nobody would be told of an alert: there is no way to notify anybody yet.')).waitFor();
    await owner.fine('an overview of which nobody is told');
    expect(await page.getByRole('link', { name: said('Choose how people are notified') }).getAttribute('href')).toBe('/w/corner-shop/settings/notifications');
    guided('Settings → Notifications');
    await page.getByRole('navigation', { name: said('Main') }).getByRole('link', { name: said('Settings') }).filter({ visible: true }).click();
    await page.getByRole('link', { name: said('Notifications') }).click();
    await page.getByRole('button', { name: told('Add channel') }).first().click();
    await dialog().getByRole('button', { name: /^Webhook/ }).click();
    await dialog().getByLabel(said('Name')).fill('My phone');
    await dialog().getByLabel(said('URL')).fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
    await dialog().getByRole('button', { name: told('Send a test') }).click();
    await dialog().getByText(said('It works: the test was accepted. Check whether it has arrived.')).waitFor();
    expect(heard.length).toBe(1);
    await dialog().getByRole('button', { name: told('Add'), exact: true }).click();
    await dialog().getByRole('button', { name: said('Done') }).click();
    await dialog().waitFor({ state: 'detached' });
    // What was tested in the dialog counts.
    await page.getByText(said('Works'), { exact: true }).waitFor();
    await page.getByText(new RegExp(said('Last delivered'))).waitFor();
    for (const path of ['/alerts', '/']) {
      const [known] = await Promise.all([page.waitForResponse((r) => new URL(r.url()).pathname === '/api/v1/workspace'), page.goto(path)]);
      await known.finished();
      await owner.settled();
      await owner.drawn();
      expect(await page.getByTestId('unheard').count()).toBe(0);
    }
  });

  it('4 and 5: the phone has it on its home screen; the probe is held in the hand, and one thumb takes care of the alert', async () => {
    const mobile = await Visitor.arrive(browser, server, phone, { locale });
    await mobile.signIn('ada@example.com', 'a walk-in at three', said);
    // What a phone asks for before it offers to install: a manifest with icons of these sizes.
    const manifest = await mobile.page.evaluate(async () => (await fetch(document.querySelector<HTMLLinkElement>('link[rel=manifest]')!.href)).json());
    expect(manifest).toMatchObject({ name: 'Rimewatch', display: 'standalone', start_url: '/' });
    expect(manifest.icons.map((i: { sizes: string }) => i.sizes)).toEqual(expect.arrayContaining(['192x192', '512x512']));

    // The menu is out of the way of the page that it led to.
    await mobile.page.getByLabel(said('Account menu')).click();
    await mobile.page.getByRole('link', { name: said('Account'), exact: true }).click();
    await mobile.page.waitForURL(server.url + '/w/corner-shop/account');
    await mobile.page.getByRole('link', { name: said('Account'), exact: true }).waitFor({ state: 'hidden' });
    await mobile.page.goto('/');

    // For a trial it is not an hour until somebody is alerted.
    await page.goto('/');
    await page.locator('a[href*="/devices/"]').first().click();
    await page.getByRole('button', { name: told('Edit') }).click();
    const delay = dialog().getByLabel(told('Alert when too warm for, min'));
    await delay.fill('1');
    await dialog().getByRole('button', { name: told('Save') }).click();
    await dialog().waitFor({ state: 'detached' });
    heard.length = 0;
    for (let m = 3; m >= 0; m--) await send(24.5, m);
    await mobile.page.getByText(language === 'es' ? /demasiado caliente desde hace/ : /too warm for/).first().waitFor();
    await expect.poll(() => JSON.stringify(heard)).toContain('Back freezer');
    await mobile.page.getByRole('button', { name: told('Acknowledge') }).first().click();
    await mobile.page.getByText('Ada').filter({ visible: true }).first().waitFor();
    await mobile.fine('the first alert');
    await mobile.leave();

    // And the delay of the type is back.
    await page.getByRole('button', { name: said('Edit') }).click();
    expect(await delay.inputValue()).toBe('1');
    await delay.fill('');
    await dialog().getByRole('button', { name: said('Save') }).click();
    await dialog().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: said('Edit') }).click();
    expect([await delay.inputValue(), await delay.getAttribute('placeholder')]).toEqual(['', '60']);
  });
});
