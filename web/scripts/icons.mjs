// Draws the PNG icons of the installed app from public/icon.svg, with Debian's
// chromium: `node scripts/icons.mjs`. A maskable one has room around it, which
// phones cut to their shape.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const out = (name) => fileURLToPath(new URL(`../public/${name}`, import.meta.url));
const icon = readFileSync(out('icon.svg'), 'utf8');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage();
async function draw(name, size, share) {
  await page.setViewportSize({ width: size, height: size });
  const inner = Math.round(size * share);
  await page.setContent(`<body style="margin:0;display:grid;place-items:center;width:${size}px;height:${size}px;background:${share < 1 ? '#10212b' : 'transparent'}"><div style="width:${inner}px;height:${inner}px">${icon}</div></body>`);
  await page.screenshot({ path: out(name), omitBackground: true });
}
await draw('icon-192.png', 192, 1);
await draw('icon-512.png', 512, 1);
await draw('icon-maskable-512.png', 512, 0.78);
await draw('apple-touch-icon.png', 180, 0.86);
await browser.close();
