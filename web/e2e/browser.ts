// Debian's chromium, and pages that complain about every error they see.
import { AxeBuilder } from '@axe-core/playwright';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Server } from './server';

export const phone = { width: 390, height: 844 };
export const desktop = { width: 1280, height: 900 };

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** Visitor is a browser of one person. */
export class Visitor {
  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly url: string,
    /** What went wrong in the page: exceptions, console errors, refused parts. */
    readonly trouble: string[],
  ) {}

  static async arrive(browser: Browser, server: Server, viewport = desktop): Promise<Visitor> {
    const context = await browser.newContext({ viewport, baseURL: server.url, reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'] });
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    const trouble: string[] = [];
    page.on('pageerror', (e) => trouble.push(`exception: ${e.message}`));
    page.on('console', (m) => {
      if (m.type() === 'error' || m.type() === 'warning') trouble.push(`console: ${m.text()} ${m.location().url}`);
    });
    return new Visitor(page, context, server.url, trouble);
  }

  async signIn(email: string, password: string) {
    await this.page.goto('/sign-in');
    await this.page.getByLabel('E-mail').fill(email);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.waitForURL(this.url + '/');
  }

  /** fine fails when the page has a serious flaw for people with disabilities,
   * is wider than its window, or has said an error. */
  async fine(what: string) {
    const { violations } = await new AxeBuilder({ page: this.page }).analyze();
    const serious = violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(' | ')}`);
    expect(serious, `${what}: axe`).toEqual([]);
    const wide = await this.page.evaluate(() => {
      const edge = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= edge) return [];
      const past = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > edge + 1);
      return past.slice(0, 5).map((e) => `${e.tagName} ${e.className} ${e.textContent?.slice(0, 40)}`);
    });
    expect(wide, `${what}: wider than the window`).toEqual([]);
    expect(this.trouble, `${what}: errors`).toEqual([]);
  }

  leave() {
    return this.context.close();
  }
}
