import { readFileSync, mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
const log = readFileSync('/tmp/demo.log', 'utf8');
const password = /Password\s+(\S+)/.exec(log)[1];
mkdirSync('/tmp/shots', { recursive: true });
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const [, , ...what] = process.argv;
for (const size of (process.env.SIZES ?? '390,1280').split(',').map(Number)) for (const theme of (process.env.THEMES ?? 'light').split(',')) {
  const c = await b.newContext({ viewport: { width: size, height: size < 500 ? 844 : 900 }, colorScheme: theme, baseURL: 'http://127.0.0.1:8123', serviceWorkers: 'block', locale: process.env.LANG_ ?? 'en-GB' });
  const p = await c.newPage();
  p.on('console', (m) => m.type() === 'error' && console.log(m.text()));
  await p.goto('/sign-in'); await p.getByLabel(/E-mail|Correo/).fill('demo@rimewatch.example'); await p.locator('input[type=password]').fill(password); await p.keyboard.press('Enter');
  await p.waitForURL(/\/w\//);
  for (const path of what) {
    const [where, act] = path.split('@');
    await p.goto(where); await p.waitForTimeout(2500);
    if (act) { for (const a of act.split(',')) { if (a.startsWith('key:')) await p.keyboard.press(a.slice(4)); else if (a.startsWith('type:')) await p.keyboard.type(a.slice(5)); else await p.getByRole('button', { name: a }).first().click(); await p.waitForTimeout(700); } }
    await p.screenshot({ path: `/tmp/shots/${where.replace(/\W+/g, '_')}${act ? '_act' : ''}-${size}-${theme}.png`, fullPage: !process.env.VIEW });
  }
  await c.close();
}
await b.close();
