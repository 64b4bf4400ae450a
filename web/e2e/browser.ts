// Debian's chromium, and pages that complain about every error they see.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type ConsoleMessage, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { narrow, untidy } from '../scripts/layout.mjs';
import { patience } from './patience';
import { slowed } from './slow';

type Theme = 'light' | 'dark';
export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 900 };

export const whole = process.env.CHROMIUM ?? '/usr/bin/chromium';
const withoutWindows = '/usr/bin/chromium-headless-shell';
/** shell is Debian's chromium without windows, where it is installed: it takes a third less time than the whole one, and lacks pushed messages. */
const shell = !process.env.CHROMIUM && existsSync(withoutWindows) ? withoutWindows : whole;

export function launch(executablePath = shell): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: patience });
}

/** axeScript is axe, half as large as axe.source, with a memory for colours: of some hundred times that it parses one, a dozen are different. */
const axeScript = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')};{
  const { prototype } = axe.commons.color.Color, { parseString } = prototype, known = new Map();
  prototype.parseString = function (text) {
    if (known.has(text)) return Object.assign(this, known.get(text));
    const { r, g, b, alpha } = parseString.call(this, text);
    known.set(text, { r, g, b, alpha });
    return this;
  };
}`;
/** Refusal is an answer that a test provokes: the browser writes an error to its console for it. */
interface Refusal {
  path: string;
  status: number;
}

/** none fails when anything was found, in one line: of a long log the rest may be cut off. */
export function none(found: string[], what: string) {
  if (found.length) expect.fail(`${what}: ${found.slice(0, 3).join(' | ')}${found.length > 3 ? ` | and ${found.length - 3} more` : ''}`);
}

/** rank is a number that a seed draws for a text (FNV-1a). */
function rank(text: string, seed: number): number {
  let h = 2166136261 ^ seed;
  for (const c of `${seed}${text}`) h = Math.imul(h ^ c.charCodeAt(0), 16777619);
  return h >>> 0;
}

/** timeless is an address without the moments in it: what a seed draws is not to depend on the clock. */
const timeless = (path: string) => decodeURIComponent(path).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…');

/** Visitor is a browser of one person. */
export class Visitor {
  /** What went wrong in the page since the last look: exceptions, errors and warnings in the console. */
  private trouble: string[] = [];
  /** Declared refusals whose line in the console has not come yet. */
  private declared: Refusal[] = [];
  private marks = 0;
  /** Its session or its rights are going to be ended elsewhere: what it asks is refused with 401 or 403, however often it asks. */
  endsElsewhere = false;
  /** Whatever it asks fails: the browser writes an error for that, too. */
  failing = false;
  /** Its server has too much to do, and says so. */
  busy = false;
  /** Addresses at which there is nothing, as the test knows. */
  nothingAt = /^$/;
  /** Its network is cut: the browser writes an error for each request that fails. */
  cutOff = false;

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly url: string,
  ) {
    page.on('pageerror', (e) => this.trouble.push(`exception: ${e.message}`));
    page.on('console', (m) => this.hear(m));
  }

  /** arrive opens a browser of its own. Service workers are kept out of it, which load the whole UI beforehand, unless the test is about them. */
  static async arrive(browser: Browser, server: { url: string }, viewport = desktop, more: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext({ locale: 'en-GB', viewport, baseURL: server.url, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'], serviceWorkers: 'block', ...more });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    await slowed(context, page);
    return new Visitor(page, context, server.url);
  }

  private hear(m: ConsoleMessage) {
    if (m.type() !== 'error' && m.type() !== 'warning') return;
    if (m.text() === 'Service Worker registration blocked by Playwright') return; // as arrive asked
    const { url } = m.location();
    const status = Number(/responded with a status of (\d+)/.exec(m.text())?.[1]);
    const i = this.declared.findIndex((r) => r.status === status && URL.canParse(url) && new URL(url).pathname === r.path);
    if ((status === 401 || status === 403) && this.endsElsewhere) return;
    if (this.endsElsewhere && m.text().includes('HTTP Authentication failed')) return; // of the stream
    if ((status === 500 && this.failing) || (status === 429 && this.busy)) return;
    if (m.text().includes('WebSocket is closed before the connection is established')) return; // the page was left, or had another language, before a busy server had answered
    if (status === 404 && URL.canParse(url) && this.nothingAt.test(new URL(url).pathname)) return;
    if (this.cutOff && /net::ERR_|WebSocket connection/.test(m.text())) return;
    if (i >= 0) this.declared.splice(i, 1);
    else this.trouble.push(`console: ${m.text()} ${url}`);
  }

  /** refused runs act and waits until the server has refused the request that it
   * sends. The browser reports each refusal once in its console, before or after
   * the page shows it: that one line is expected, whenever it comes. */
  async refused(method: string, path: string, status: number, act: () => Promise<unknown>) {
    this.declared.push({ path, status });
    await this.answered(method, path, act, (code) => code === status);
  }

  /** answered runs act and waits until the server has answered the request that it
   * sends: what shows at once may not have come there yet, and leaving the page would
   * take it back. */
  async answered(method: string, path: string, act: () => Promise<unknown>, so = (status: number) => status < 300) {
    await Promise.all([
      this.page.waitForResponse((r) => r.request().method() === method && new URL(r.url()).pathname === path && so(r.status())),
      act(),
    ]);
  }

  /** quiet fails when anything has gone wrong in the page since the last look. */
  async quiet(what: string) {
    // What the page wrote before this mark has been heard when the mark has.
    const mark = `mark ${++this.marks}`;
    await Promise.all([
      this.page.waitForEvent('console', (m) => m.text() === mark),
      this.page.evaluate((text) => console.debug(text), mark),
    ]);
    none(this.trouble.splice(0), `${what}: errors`);
  }

  /** signIn presses what said makes of the English texts, in a browser of another language. */
  async signIn(email: string, password: string, said = (english: string) => english) {
    await this.page.goto('/sign-in');
    await this.page.getByLabel(said('E-mail')).fill(email);
    await this.page.getByLabel(said('Password')).fill(password);
    await this.page.getByRole('button', { name: said('Sign in') }).click();
    await this.page.waitForURL(/\/w\/[a-z0-9-]+\/$/);
  }

  /** to follows a link to a page: the UI is there already. */
  async to(path: string) {
    await this.page.evaluate((href) => {
      const link = document.body.appendChild(Object.assign(document.createElement('a'), { href }));
      link.click();
      link.remove();
    }, path);
    await this.settled();
  }

  /** atOnce has what is asked for on its next pages carried out at once: that people could take it back is not what the test is about. */
  atOnce() {
    return this.page.addInitScript(() => {
      const ask = window.fetch;
      window.fetch = (at, options) => {
        delete (options?.headers as Record<string, string> | undefined)?.Prefer;
        return ask(at, options);
      };
    });
  }

  /** settled waits until the page has loaded what it shows. */
  async settled() {
    await this.page.locator('h1').filter({ visible: true }).first().waitFor();
    // Several parts of a page may be loading at once: a locator that waits would take only one.
    // What is shown of the past while a slow server answers is not settled either.
    await expect.poll(() => this.page.locator('[aria-busy=true], [data-testid=lost]').count(), `${this.page.url()} is busy`).toBe(0);
  }

  /** kept is what this browser has kept of the API by that key, for when there is no network. */
  kept(key: string) {
    // Of the workspace of the address, where that is one.
    return this.page.evaluate(async (k) => (await caches.match('/kept' + (/^\/w(\/[^/]+)/.exec(location.pathname)?.[1] ?? '') + '/' + encodeURIComponent(k), { cacheName: 'values' }))?.text(), key);
  }

  /** drawn waits until the page has drawn what it knows. */
  drawn() {
    return this.page.evaluate(() => new Promise<unknown>((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** oneByOne holds the answers of the API back. all lets them come one by one, each when the page has drawn the one before, in the order
   * that a seed gives their addresses, until the page has all; it returns that order. */
  async oneByOne(seed: number) {
    const held: { path: string; come: () => Promise<void> }[] = [];
    let asked = 0;
    await this.page.route(/\/api\/v1\//, async (route) => {
      asked++;
      const url = new URL(route.request().url());
      const response = await route.fetch();
      held.push({ path: timeless(url.pathname.slice('/api'.length) + url.search), come: () => route.fulfill({ response }) });
    });
    const busy = async () => !(await this.page.locator('h1').count()) || (await this.page.locator('[aria-busy=true]').count()) > 0;
    const all = async () => {
      const came: string[] = [];
      while (held.length || asked > came.length || (await busy())) {
        await this.drawn();
        if (!held.length || asked > came.length + held.length) continue; // an answer is on its way to here
        held.sort((a, b) => rank(a.path, seed) - rank(b.path, seed));
        const next = held.shift()!;
        came.push(next.path);
        await next.come();
        await this.drawn();
      }
      await this.page.unrouteAll({ behavior: 'ignoreErrors' });
      return came;
    };
    return { all };
  }

  /** fine fails when the page has a flaw for people with disabilities, not exactly
   * one heading of its own and a title, is wider than its window, has buttons too small for a phone's thumb, or has reported an error. */
  async fine(what: string) {
    await this.page.locator('h1').filter({ visible: true }).first().waitFor(); // its code may still be on its way
    none(await this.flaws(), `${what}: axe`);
    await this.fits(what);
  }

  /** fits is fine but for what axe finds. */
  private async fits(what: string) {
    await this.headed(what);
    const wide = await this.page.evaluate(() => {
      const edge = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= edge) return [];
      const past = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > edge + 1);
      return past.slice(0, 5).map((e) => `${e.tagName} ${e.className} ${e.textContent?.slice(0, 40)}`);
    });
    none(wide, `${what}: wider than the window`);
    if (this.page.viewportSize()!.width <= phone.width) none(await this.page.evaluate(narrow), what);
    await this.quiet(what);
  }

  /** tidy is fine but for what axe finds, and cuts no label off. */
  async tidy(what: string) {
    await this.fits(what);
    none(await this.page.evaluate(untidy), `${what}: what does not fit`);
  }

  /** fineIn is fine in these themes, between which nothing but the colours differs, and cuts no label off. */
  async fineIn(what: string, themes: Theme[]) {
    await this.tidy(what);
    if (new URL(this.page.url()).pathname.endsWith('/wall')) return none(await this.flaws(), `${what}: axe`); // it is dark, whatever is asked for
    for (const [i, theme] of themes.entries()) {
      await this.page.emulateMedia({ colorScheme: theme });
      await this.page.locator(`html[data-theme=rime-${theme}]`).waitFor();
      none(await this.flaws(i ? ['color-contrast', 'link-in-text-block'] : undefined), `${what}, ${theme}: axe`);
    }
  }

  /** headed fails when the page has not exactly one heading of its own, or no title. */
  async headed(what: string) {
    const heads = () => this.page.locator('h1').evaluateAll((all) => all.filter((h) => h.checkVisibility()).map((h) => h.textContent?.trim()));
    await expect.poll(heads, `${what}: h1`).toEqual([expect.stringMatching(/./)]); // between two of its parts there may be none
    await expect.poll(() => this.page.title(), `${what}: title`).toMatch(/^\S.* · Rimewatch$/);
  }

  /** flaws is what axe finds, by all its rules or some. */
  async flaws(rules?: string[]): Promise<string[]> {
    if (!(await this.page.evaluate(() => 'axe' in globalThis))) await this.page.evaluate(axeScript);
    return this.page.evaluate(async (only) => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'], ...(only ? { runOnly: only } : {}) }); // of what passes it need not name the elements
      return violations.map(({ impact, id, nodes: [n, ...more] }) => `${impact} ${id}: ${n!.target.join(' ').slice(-120)}: ${[...n!.any, ...n!.all, ...n!.none].map((c) => c.message).join(', ').slice(0, 160)}${more.length ? `, and ${more.length} more` : ''}`);
    }, rules);
  }

  /** shift is how far things moved while the page loaded, without anybody touching
   * it: the sum of its layout shifts (https://web.dev/articles/cls). */
  shift(): Promise<number> {
    return this.page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          interface Shift extends PerformanceEntry {
            value: number;
            hadRecentInput: boolean;
          }
          const sum = (list: PerformanceEntryList) => (list as Shift[]).reduce((n, e) => n + (e.hadRecentInput ? 0 : e.value), 0);
          new PerformanceObserver((list, o) => (o.disconnect(), resolve(sum(list.getEntries())))).observe({ type: 'layout-shift', buffered: true });
          // The observer says nothing when nothing moved.
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
        }),
    );
  }

  /** leave closes the browser; what went wrong until then fails the test. */
  async leave() {
    await this.quiet('on leaving');
    await this.context.close();
  }
}
