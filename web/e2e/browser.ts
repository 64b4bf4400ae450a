// Debian's chromium, and pages that complain about every error they see.
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type ConsoleMessage, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { patience } from './patience';

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 900 };

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: patience });
}

/** Refusal is an answer that a test provokes: the browser writes an error to its console for it. */
interface Refusal {
  path: string;
  status: number;
}

/** Visitor is a browser of one person. */
export class Visitor {
  /** What went wrong in the page since the last look: exceptions, errors and warnings in the console. */
  private trouble: string[] = [];
  /** Declared refusals whose line in the console has not come yet. */
  private declared: Refusal[] = [];
  private marks = 0;
  /** Its session is going to be ended elsewhere: whatever it asks is refused with 401, however often it asks. */
  endsElsewhere = false;
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
    const context = await browser.newContext({ viewport, baseURL: server.url, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'], serviceWorkers: 'block', ...more });
    context.setDefaultTimeout(patience);
    return new Visitor(await context.newPage(), context, server.url);
  }

  private hear(m: ConsoleMessage) {
    if (m.type() !== 'error' && m.type() !== 'warning') return;
    if (m.text() === 'Service Worker registration blocked by Playwright') return; // as arrive asked
    const { url } = m.location();
    const status = Number(/responded with a status of (\d+)/.exec(m.text())?.[1]);
    const i = this.declared.findIndex((r) => r.status === status && URL.canParse(url) && new URL(url).pathname === r.path);
    if (status === 401 && this.endsElsewhere) return;
    if (this.cutOff && /net::ERR_|WebSocket connection/.test(m.text())) return;
    if (i >= 0) this.declared.splice(i, 1);
    else this.trouble.push(`console: ${m.text()} ${url}`);
  }

  /** refused runs act and waits until the server has refused the request that it
   * sends. The browser reports each refusal once in its console, before or after
   * the page shows it: that one line is expected, whenever it comes. */
  async refused(method: string, path: string, status: number, act: () => Promise<unknown>) {
    this.declared.push({ path, status });
    await Promise.all([
      this.page.waitForResponse((r) => r.request().method() === method && new URL(r.url()).pathname === path && r.status() === status),
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
    expect(this.trouble.splice(0), `${what}: errors`).toEqual([]);
  }

  async signIn(email: string, password: string) {
    await this.page.goto('/sign-in');
    await this.page.getByLabel('E-mail').fill(email);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.waitForURL(this.url + '/');
  }

  /** fine fails when the page has a serious flaw for people with disabilities,
   * is wider than its window, or has reported an error. */
  async fine(what: string) {
    await this.page.evaluate(axe.source);
    const serious = await this.page.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }); // of what passes it need not name the elements
      return violations
        .filter((v) => v.impact === 'serious' || v.impact === 'critical')
        .map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(' | ')}`);
    });
    expect(serious, `${what}: axe`).toEqual([]);
    const wide = await this.page.evaluate(() => {
      const edge = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= edge) return [];
      const past = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > edge + 1);
      return past.slice(0, 5).map((e) => `${e.tagName} ${e.className} ${e.textContent?.slice(0, 40)}`);
    });
    expect(wide, `${what}: wider than the window`).toEqual([]);
    await this.quiet(what);
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
