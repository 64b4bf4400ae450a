// Every page in every size and theme, from a demo server of its own, into
// screenshots/ at the root. PAGES=overview,device SIZES=390 THEMES=dark narrow it down;
// URL, EMAIL and PASSWORD take a running server instead.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const out = root + 'screenshots/';
const list = (name, all) => (process.env[name] ? process.env[name].split(',') : all);

const pages = [
  { name: 'sign-in', path: '/sign-in', anonymous: true },
  { name: 'policies', path: '/policies/privacy', anonymous: true },
  { name: 'overview', path: '/' },
  { name: 'overview-filtered', path: '/?q=zzz' },
  { name: 'device', path: '/devices/VAC-0001' },
  { name: 'device-predicted', path: '/devices/WIF-0001?range=7d' },
  { name: 'wall', path: '/wall' },
  { name: 'not-found', path: '/nowhere' },
];
const heights = { 390: 844, 768: 1024, 1280: 800, 1920: 1080 };

function demo() {
  return new Promise((resolve, reject) => {
    const p = spawn(root + 'bin/rimewatch', ['demo', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    p.stdout.on('data', (b) => {
      text += b;
      const url = /Web\s+(\S+)/.exec(text)?.[1];
      const email = /E-mail\s+(\S+)/.exec(text)?.[1];
      const password = /Password\s+(\S+)\n/.exec(text)?.[1];
      if (url && email && password) resolve({ url, email, password, stop: () => p.kill('SIGTERM') });
    });
    p.on('exit', (code) => reject(new Error(`the demo ended with ${code}`)));
  });
}

const server = process.env.URL ? { url: process.env.URL, email: process.env.EMAIL, password: process.env.PASSWORD, stop() {} } : await demo();
mkdirSync(out, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
let complaints = 0;
try {
  for (const theme of list('THEMES', ['light', 'dark'])) {
    for (const size of list('SIZES', Object.keys(heights)).map(Number)) {
      const context = await browser.newContext({ viewport: { width: size, height: heights[size] ?? 900 }, colorScheme: theme, deviceScaleFactor: size < 500 ? 2 : 1, reducedMotion: 'reduce' });
      let signedIn = false;
      for (const page of pages.filter((p) => list('PAGES', [p.name]).includes(p.name))) {
        if (!page.anonymous && !signedIn) {
          await context.request.post(server.url + '/api/v1/auth/sign-in', { data: { email: server.email, password: server.password } });
          signedIn = true;
        }
        const tab = await context.newPage();
        const complain = (text) => {
          if (/401/.test(text) && page.anonymous) return;
          complaints++;
          console.error(`${page.name} ${size} ${theme}: ${text}`);
        };
        tab.on('console', (m) => m.type() === 'error' && complain(m.text()));
        tab.on('pageerror', (e) => complain(e.message));
        await tab.goto(server.url + page.path, { waitUntil: 'load' });
        await tab.waitForFunction(() => !document.querySelector('.skeleton'), null, { timeout: 10_000 }).catch(() => complain('still loading after 10 s'));
        await tab.waitForTimeout(page.wait ?? 700);
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) complain(`scrolls sideways by ${wide} px`);
        // The whole page as one window, so that what draws only what is seen draws all.
        const height = await tab.evaluate(() => document.documentElement.scrollHeight);
        if (page.name !== 'wall' && height > heights[size]) {
          await tab.setViewportSize({ width: size, height: Math.min(height, 3000) });
          await tab.waitForTimeout(500);
        }
        await tab.screenshot({ path: `${out}${page.name}-${size}-${theme}.png` });
        await tab.close();
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  server.stop();
}
if (complaints) process.exitCode = 1;
