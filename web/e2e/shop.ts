// What a test file begins and ends with: a server of its own, set up by its owner, who is signed in with a browser.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { desktop, launch, Visitor } from './browser';
import { Api, Office, Server, type Person } from './server';

export interface Shop {
  server: Server;
  browser: Browser;
  office: Office;
  owner: Person;
  api: Api;
  /** The owner's browser; an error that it shows fails the test that runs. */
  visitor: Visitor;
  page: Page;
}

/** noon is a time zone in which it is about noon: what a test did in the last hour lies within one day and one month. */
export function noon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`; // the sign is that of POSIX
}

/** openShop opens the shop before the tests of a file and closes it after them.
 * fill prepares it before the owner signs in. In Tokyo no hour of a clock comes twice. */
export function openShop({ viewport = desktop, timezone = 'Asia/Tokyo', flags = [] as string[], fill = async (_: Shop) => {} } = {}): Shop {
  const shop = {} as Shop;
  beforeAll(async () => {
    [shop.server, shop.browser] = await Promise.all([Server.start(...flags), launch()]);
    shop.office = new Office(shop.server.url);
    shop.owner = await shop.office.open(shop.server.code, timezone);
    shop.api = new Api(shop.server.url, await shop.office.token());
    await fill(shop);
    shop.visitor = await Visitor.arrive(shop.browser, shop.server, viewport);
    shop.page = shop.visitor.page;
    await shop.visitor.signIn(shop.owner.email, shop.owner.password);
  });
  afterAll(async () => {
    await shop.browser?.close();
    await shop.server?.stop();
  });
  afterEach(({ task }) => shop.visitor.quiet(task.name));
  return shop;
}
