// How heavy and how quick the UI is, in a real browser against a real server:
// what the first page loads, how long a fleet takes until it can be used, how
// even it runs while readings stream in, how long 30 days of charts take.
// DEVICES=1000 RATE=500; PHONE=1: only how long the overview takes on a slow phone.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../', import.meta.url));
const devices = Number(process.env.DEVICES ?? 1000);
const rate = Number(process.env.RATE ?? 500); // readings a second
const serial = (i) => `U-${String(i).padStart(5, '0')}`;

const data = mkdtempSync(join(tmpdir(), 'rimewatch-measure-'));
const child = spawn(root + 'bin/rimewatch', ['serve', '--data', join(data, 'store'), '--listen', '127.0.0.1:0', '--rate-limit', '0']);
const { url, code } = await new Promise((resolve, reject) => {
  let log = '';
  const read = (part) => {
    log += part;
    const u = /msg=serving url=(\S+)/.exec(log)?.[1];
    const c = /code=(\S+)/.exec(log)?.[1];
    if (u && c) resolve({ url: u, code: c });
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.on('exit', () => reject(new Error(log)));
});

let cookie = '';
async function ask(method, path, body, type = 'application/json') {
  const answer = await fetch(url + '/api' + path, { method, headers: { 'Content-Type': type, ...(cookie ? { Cookie: cookie } : {}) }, body: typeof body === 'string' ? body : JSON.stringify(body) });
  cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).data;
}
const reading = (i, t, at) => ({ device_serial: serial(i), recorded_at: new Date(at).toISOString(), product_zone_temp: t, compressor_discharge_temp: 60 + t, compressor_suction_temp: 5 - t, ambient_temp: 22, humidity: 50, voltage: 230, amp_draw: 6, vibration_level: 1.2 });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
let feeding;
try {
  await ask('POST', '/v1/setup', { code, workspace: 'Measure', timezone: 'Europe/Berlin', email: 'm@x.example', password: 'correct horse battery' });
  const types = ['walkin_freezer', 'walkin_cooler', 'reach_in_cooler', 'display_case_open'];
  for (let i = 0; i < devices; i += 5000) {
    const rows = Array.from({ length: Math.min(5000, devices - i) }, (_, k) => `${serial(i + k)},Unit ${i + k},${types[(i + k) % 4]}`);
    await ask('POST', '/v1/devices/import', 'serial,name,equipment_type\n' + rows.join('\n'), 'text/csv');
  }
  const now = Date.now();
  const usual = [-20, 3, 3, 2];
  for (let h = 24; h >= 0; h -= devices > 2000 ? 12 : 1) {
    for (let i = 0; i < devices; i += 10_000) {
      await ask('POST', '/v1/readings/batch', { readings: Array.from({ length: Math.min(10_000, devices - i) }, (_, k) => reading(i + k, usual[(i + k) % 4] + ((i + k + h) % 10) / 10, now - h * 3_600_000 - 1000)) });
    }
  }
  // A month of minutes of one device.
  for (let d = 30; d > 0; d--) {
    await ask('POST', '/v1/readings/batch', { readings: Array.from({ length: 1440 }, (_, m) => reading(0, -20 + 2 * Math.sin((d * 1440 + m) / 40), now - d * 86_400_000 + m * 60_000 + 500)) });
  }

  // As Lighthouse throttles a phone: 4 × slower, 1.6 Mbit/s, 150 ms a round trip.
  async function onPhone() {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
    const [name, value] = cookie.split('=');
    await context.addCookies([{ name, value, url }]);
    const tab = await context.newPage();
    const devtools = await context.newCDPSession(tab);
    await devtools.send('Network.enable');
    await devtools.send('Network.emulateNetworkConditions', { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 });
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await tab.goto(url + '/', { waitUntil: 'commit' });
    const since = async (shown) => {
      await tab.waitForFunction(shown);
      return (await tab.evaluate(() => performance.now())).toFixed(0);
    };
    const headline = await since(() => document.querySelector('h1:not(.sr-only)'));
    const usable = await since(() => document.querySelectorAll('a[href*="/devices/"]').length > 2);
    const { transferred, shift } = await tab.evaluate(() => ({
      transferred: performance.getEntriesByType('resource').reduce((n, r) => n + r.transferSize, 0),
      shift: performance.getEntriesByType('layout-shift').reduce((n, e) => n + e.value, 0),
    }));
    console.log(`${devices} devices on a slow phone: headline after ${headline} ms, usable after ${usable} ms, ${(transferred / 1000).toFixed(0)} kB by then, layout shift ${shift.toFixed(3)}`);
    await context.close();
  }

  async function onDesktop() {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const [name, value] = cookie.split('=');
    await context.addCookies([{ name, value, url }]);
    const tab = await context.newPage();
    tab.on('pageerror', (e) => console.error(e.message));
    for (const which of ['cold', 'warm', 'warm']) {
      await tab.goto(url + '/', { waitUntil: 'commit' });
      await tab.waitForFunction(() => document.querySelectorAll('a[href*="/devices/"]').length > 8);
      const shown = await tab.evaluate(() => performance.now());
      await tab.waitForFunction((n) => document.querySelector('[aria-pressed]')?.textContent?.replace(/\D/g, '') === String(n), devices);
      const complete = await tab.evaluate(() => performance.now());
      console.log(`${devices} devices, ${which} cache: cards after ${shown.toFixed(0)} ms, all known after ${complete.toFixed(0)} ms`);
      if (which === 'cold') {
        const parts = await tab.evaluate(() => performance.getEntriesByType('resource').map((r) => ({ name: r.name, size: r.encodedBodySize })));
        const sum = (ext) => parts.filter((p) => p.name.endsWith(ext)).reduce((a, p) => a + p.size, 0);
        console.log(`first page: ${(sum('.js') / 1000).toFixed(1)} kB of JavaScript, ${(sum('.css') / 1000).toFixed(1)} kB of CSS (compressed as sent), ${(sum('.woff2') / 1000).toFixed(1)} kB of fonts`);
      }
    }

    let k = 0;
    const tick = 100; // ms
    const feed = async () => {
      const at = Date.now();
      const batch = Array.from({ length: (rate * tick) / 1000 }, () => { k = (k + 7919) % devices; return reading(k, usual[k % 4] + Math.random(), at); });
      await ask('POST', '/v1/readings/batch', { readings: batch });
    };
    feeding = setInterval(() => feed().catch((e) => console.error(e.message)), tick);
    const frames = (seconds) =>
      tab.evaluate(
        (s) =>
          new Promise((resolve) => {
            const gaps = [];
            let last = performance.now();
            const end = last + s * 1000;
            const step = (t) => {
              gaps.push(t - last);
              last = t;
              if (t < end) requestAnimationFrame(step);
              else {
                gaps.sort((a, b) => a - b);
                resolve({ fps: gaps.length / s, p99: gaps[Math.floor(gaps.length * 0.99)], worst: gaps.at(-1) });
              }
            };
            requestAnimationFrame(step);
          }),
        seconds,
      );
    await tab.waitForTimeout(2000);
    const show = (f) => `${f.fps.toFixed(1)} frames/s, 99 % of them within ${f.p99.toFixed(1)} ms, worst ${f.worst.toFixed(0)} ms`;
    console.log(`${rate} readings/s at rest: ${show(await frames(10))}; ${await tab.locator('[role=status]').first().innerText()}`);
    const scrolled = frames(6);
    for (let i = 0; i < 60; i++) {
      await tab.mouse.wheel(0, 400);
      await tab.waitForTimeout(80);
    }
    console.log(`${rate} readings/s while scrolling: ${show(await scrolled)}`);
    clearInterval(feeding);

    await tab.goto(`${url}/devices/${serial(0)}`);
    await tab.waitForSelector('canvas');
    await tab.waitForTimeout(500);
    for (let i = 0; i < 3; i++) {
      const took = await tab.evaluate(async () => {
        const button = [...document.querySelectorAll('button')].find((b) => b.textContent === '30 d');
        const start = performance.now();
        button.click();
        const busy = () => document.querySelector('[aria-busy="true"]');
        const frame = () => new Promise((r) => requestAnimationFrame(r));
        do await frame(); while (busy());
        await frame();
        const total = performance.now() - start;
        const asked = performance.getEntriesByType('resource').filter((r) => r.name.includes('/readings?')).at(-1);
        return { total, asked: asked.duration };
      });
      console.log(`30 days of eight charts: ${took.total.toFixed(0)} ms from the click, ${took.asked.toFixed(0)} ms of it for the answer`);
      await tab.getByRole('button', { name: '24 h', exact: true }).click();
      await tab.waitForTimeout(600);
    }
  }

  if (process.env.PHONE) for (let i = 0; i < 3; i++) await onPhone();
  else await onDesktop();
} finally {
  clearInterval(feeding);
  await browser.close();
  child.kill('SIGTERM');
  rmSync(data, { recursive: true, force: true });
}
