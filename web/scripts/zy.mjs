import { readFileSync, writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
const password = /Password\s+(\S+)/.exec(readFileSync('/tmp/demo.log', 'utf8'))[1];
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const c = await b.newContext({ baseURL: 'http://127.0.0.1:8123', serviceWorkers: 'block' });
const p = await c.newPage();
await p.goto('/sign-in'); await p.getByLabel(/E-mail/).fill('demo@rimewatch.example'); await p.locator('input[type=password]').fill(password); await p.keyboard.press('Enter');
await p.waitForURL(/\/w\//);
const list = (await (await p.request.get('/api/v1/cases')).json()).data.cases;
for (const x of list) {
  console.log(x.id, x.device_name, x.status, x.from, x.to, x.lines.map((l) => l.kind + ' ' + (l.type ?? '')).join('; '));
  const r = await p.request.get(`/api/v1/cases/${x.id}/report.pdf`);
  writeFileSync(`/tmp/d${x.id}.pdf`, await r.body());
}
await b.close();
