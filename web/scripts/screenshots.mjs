// Every page in every size and theme, into screenshots/ at the root: from a demo,
// and from a server that goes through the states of a young workspace (nobody,
// nothing, one device, names that nobody expects, everything offline).
// PAGES=overview,device SIZES=390 THEMES=dark LANGUAGES=es narrow it down; FLEET=2000 adds a chain of so many devices.
// At the end several pages are put on one sheet each, so that all of them can be looked at: screenshots/sheets/.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { catalogue } from './languages.mjs';
import { narrow, untidy } from './layout.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const out = root + 'screenshots/';
const list = (name, all) => (process.env[name] ? process.env[name].split(',') : all);
const heights = { 360: 740, 390: 844, 768: 1024, 1280: 800, 1920: 1080 };
const sizes = list('SIZES', Object.keys(heights)).map(Number);
const themes = list('THEMES', ['light', 'dark']);
const languages = list('LANGUAGES', ['en']);
const fleetSize = Number(process.env.FLEET ?? 0);

/** said is a text of the page in its language; what stands in braces may be anything. */
function said(language, text, begins = false) {
  const own = (language !== 'en' && catalogue(language).texts[text]) || text;
  return new RegExp(`^\\s*${own.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '.+')}${begins ? '' : '\\s*$'}`);
}

/** press opens a dialog by the English text of its button, the last one of several with at = -1, and within it presses more. */
function press(name, at = 0, ...more) {
  return async (tab, language) => {
    const buttons = tab.getByRole('button', { name: said(language, name) }).filter({ visible: true });
    await (at < 0 ? buttons.last() : buttons.nth(at)).click();
    for (const way of more) await tab.getByRole('dialog').getByRole('button', { name: said(language, way, true) }).click();
  };
}

async function makeToken(tab, language) {
  await tab.getByLabel(said(language, 'Name')).fill('Gateway in the back room');
  await press('Create token')(tab, language);
  await tab.getByTestId('plain-token').waitFor();
}

async function importFile(tab, language) {
  await press('Import CSV')(tab, language);
  const csv = 'serial,name,equipment_type,temp_max\nNEW-7,Salad bar,salad_bar,5\nVAC-0001,Vaccines,,\nno good!,A name,,abc\n';
  await tab.getByLabel(said(language, 'CSV file')).setInputFiles({ name: 'devices.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await tab.getByRole('table').waitFor();
}

/** furnish returns the demo what its settings are about: people, places, channels, routes, quiet times. */
async function furnish(s) {
  await s.ask('POST', '/v1/members', { email: 'maria.fernanda.gonzalez-rodriguez@old-town-market.example', role: 'technician' });
  await s.ask('POST', '/v1/members', { email: 'ben@market.example', role: 'viewer' });
  const { channel: mail } = await s.ask('POST', '/v1/channels', { kind: 'webhook', name: 'Night shift', url: 'https://127.0.0.1:2/night' });
  const { channel: hook } = await s.ask('POST', '/v1/channels', { kind: 'webhook', name: 'Ticket system of the refrigeration contractor, second floor', url: 'https://127.0.0.1:1/hooks/rimewatch' });
  await s.ask('POST', '/v1/channels', { kind: 'service', name: 'Slack #cold-chain', url: 'ntfy://ntfy.sh/cold-chain-of-the-market', enabled: false });
  await s.ask('POST', `/v1/channels/${hook.id}/test`);
  await s.ask('POST', '/v1/routes', {
    name: 'Critical, day and night', match: { severities: ['critical'], types: ['high_temperature', 'low_temperature', 'device_offline', 'power_loss', 'sensor_fault'] },
    steps: [{ after_s: 0, channel_ids: [mail.id] }, { after_s: 900, channel_ids: [hook.id] }], repeat_s: 3600, quiet_hours: { from: '22:00', to: '06:00' }, digest_at: '07:30',
  });
  const hours = (n) => new Date(Date.now() + n * 3_600_000).toISOString();
  await s.ask('POST', '/v1/silences', { match: { types: ['high_vibration'] }, ends_at: hours(4), comment: 'The bearing is ordered' });
  await s.ask('POST', '/v1/maintenance-windows', { device_serials: ['WIF-0001'], ends_at: hours(2), reason: 'Cleaning the condenser' });
  await s.ask('POST', '/v1/maintenance-windows', { starts_at: hours(20), ends_at: hours(24), reason: 'The grid operator changes the transformer' });
}

/** unacknowledged is the address of an alert that the people of the demo have not acknowledged meanwhile. */
async function unacknowledged(s) {
  const { alerts } = await s.ask('GET', '/v1/alerts?acknowledged=false');
  return `/alerts/${alerts[0].id}`;
}

/** relearning is the page of a device whose maintenance has just ended: what it does is learned again. */
async function relearning(s) {
  const { maintenance_windows: windows } = await s.ask('GET', '/v1/maintenance-windows');
  for (const w of windows.filter((w) => w.active)) await s.ask('POST', `/v1/maintenance-windows/${w.id}/end`);
  return '/devices/WIF-0001';
}

/** invited is the link of somebody who has no account yet. */
async function invited(s) {
  const { secret } = await s.ask('POST', '/v1/members', { email: `new-${Date.now()}@market.example`, role: 'technician' });
  return `/invitation#${secret}`;
}

/** statusLink is the address of the status page of all sites. */
async function statusLink(s) {
  const { plain_token } = await s.ask('POST', '/v1/tokens', { name: 'For the landlord', scopes: ['status:read'] });
  return `/status#${plain_token}`;
}

const demoPages = [
  { name: 'sign-in', path: '/sign-in', anonymous: true },
  { name: 'policies', path: '/policies/privacy', anonymous: true },
  { name: 'overview', path: '/' },
  { name: 'overview-filtered', path: '/?q=zzz' },
  { name: 'overview-table', path: '/?view=table' },
  { name: 'overview-groups', path: '/?group=type' },
  { name: 'compare', path: '/compare?devices=WIF-0001,WIC-0001,VAC-0001' },
  { name: 'compare-none', path: '/compare' },
  { name: 'device', path: '/devices/VAC-0001' },
  { name: 'device-week', path: '/devices/WIF-0001?range=7d' },
  { name: 'sites', path: '/sites' },
  { name: 'site', path: '/sites/1' },
  { name: 'palette', path: '/', act: press('Search') },
  { name: 'device-behind', path: '/devices/WIF-0001?behind=day' },
  { name: 'device-meters', path: '/devices/WIF-0001?range=7d&also=suction_pressure,discharge_pressure,power,energy' },
  { name: 'device-relearning', path: relearning },
  { name: 'device-work', path: '/devices/WIF-0001', act: press('Record work') },
  { name: 'device-edit', path: '/devices/WIF-0001', act: press('Edit') },
  { name: 'alerts', path: '/alerts' },
  { name: 'alerts-all', path: '/alerts?status=all' },
  { name: 'alert', path: '/alerts/1' },
  { name: 'alert-acknowledge', path: unacknowledged, act: press('Acknowledge with a note or for a set time') },
  { name: 'alert-resolve', path: '/alerts/1', act: press('Resolve') },
  { name: 'alert-note', path: '/alerts/1', act: press('Note') },
  { name: 'alert-silence', path: '/alerts/1', act: press('Silence') },
  { name: 'alert-corrective', path: '/alerts/1', act: press('Record') },
  { name: 'alerts-bulk', path: '/alerts', act: press('Acknowledge all') },
  { name: 'account', path: '/account' },
  { name: 'account-delete', path: '/account', act: press('Delete account…') },
  { name: 'security', path: '/account/security' },
  { name: 'security-set-up', path: '/account/security', act: press('Set up') },
  { name: 'sessions', path: '/account/sessions' },
  { name: 'tokens', path: '/account/tokens' },
  { name: 'token-new', path: '/account/tokens?new=1' },
  { name: 'token-made', path: '/account/tokens?new=1', act: makeToken },
  { name: 'settings-devices', path: '/settings/devices' },
  { name: 'device-add', path: '/settings/devices', act: press('Add device') },
  { name: 'device-import', path: '/settings/devices', act: importFile },
  { name: 'device-retire', path: '/settings/devices', act: press('Retire {name}') },
  { name: 'settings-sites', path: '/settings/sites' },
  { name: 'site-add', path: '/settings/sites', act: press('Add site') },
  { name: 'status-link', path: '/settings/sites', act: press('Make a link') },
  { name: 'settings-members', path: '/settings/members' },
  { name: 'member-invite', path: '/settings/members', act: press('Invite') },
  { name: 'settings-notifications', path: '/settings/notifications' },
  { name: 'channel-add', path: '/settings/notifications', act: press('Add channel') },
  ...['Text message', 'ntfy', 'Telegram', 'Slack', 'Microsoft Teams', 'Discord', 'PagerDuty', 'Webhook', 'Something else'].map((way) => ({ name: `channel-${way.split(' ').at(-1).toLowerCase()}`, path: '/settings/notifications', act: press('Add channel', 0, way) })),
  { name: 'channel-log', path: '/settings/notifications', act: press('Log') },
  { name: 'route-add', path: '/settings/notifications', act: press('Add route') },
  { name: 'route-edit', path: '/settings/notifications', act: press('Edit', -1) },
  { name: 'settings-quiet', path: '/settings/quiet' },
  { name: 'maintenance-plan', path: '/settings/quiet', act: press('Plan one') },
  { name: 'silence-add', path: '/settings/quiet', act: press('Silence') },
  { name: 'settings-limits', path: '/settings/limits' },
  { name: 'limits-edit', path: '/settings/limits', act: press('Change the limits of {label}') },
  { name: 'settings-predictions', path: '/settings/predictions' },
  { name: 'settings-sources', path: '/settings/sources' },
  { name: 'source-add', path: '/settings/sources', act: press('Add source') },
  { name: 'connect', path: '/connect' },
  ...['phone', 'esp32', 'chirpstack', 'tts', 'shelly', 'home-assistant', 'zigbee2mqtt', 'mqtt', 'telegraf', 'curl', 'python', 'other'].map((k) => ({ name: `connect-${k}`, path: `/connect?with=${k}` })),
  { name: 'labels', path: '/labels' },
  { name: 'forgot', path: '/forgot', anonymous: true },
  { name: 'reset', path: '/reset', anonymous: true },
  { name: 'invitation', path: '/invitation', anonymous: true },
  { name: 'invitation-open', path: invited, anonymous: true },
  { name: 'status-none', path: '/status', anonymous: true },
  { name: 'send-none', path: '/send', anonymous: true },
  { name: 'status', path: statusLink, anonymous: true },
  { name: 'settings-general', path: '/settings/general' },
  { name: 'settings-audit', path: '/settings/audit' },
  { name: 'calibration', path: '/devices/VAC-0001', act: press('Record a calibration') },
  { name: 'rounds', path: '/rounds' },
  { name: 'work', path: '/work' },
  { name: 'work-order', path: '/work/1' },
  { name: 'reports', path: '/reports' },
  { name: 'wall', path: '/wall' },
  { name: 'wall-left', path: '/wall', act: (tab, language) => tab.getByRole('link', { name: said(language, 'Exit') }).click() },
  { name: 'menu', path: '/', act: (tab) => tab.locator('header details summary').click() },
  { name: 'not-found', path: '/nowhere' },
];

/** turnToSites turns the wall back to its last screen, when it has so many that it knows the whole fleet. */
async function turnToSites(tab) {
  await tab.waitForFunction(() => document.querySelectorAll('main [aria-hidden=true] > .rounded-full').length > 2);
  await tab.keyboard.press('ArrowLeft');
}

/** Pages of a large chain. */
const chainPages = [
  { name: 'chain-overview', path: '/' },
  { name: 'chain-label', path: '/?group=label.aisle' },
  { name: 'chain-table', path: '/?view=table' },
  { name: 'chain-alerts', path: '/alerts' },
  { name: 'chain-wall', path: '/wall' },
  { name: 'chain-wall-sites', path: '/wall', act: turnToSites },
  { name: 'chain-devices', path: '/settings/devices' },
  { name: 'chain-search', path: '/?q=Harburg 3' },
  { name: 'chain-site', path: '/?site=7' },
  { name: 'chain-reports', path: '/reports' },
  { name: 'chain-reports-all', path: '/reports?site=all', refused: 422 }, // too large for a page
  { name: 'chain-device', path: '/devices/U-00097' },
  { name: 'chain-device-edit', path: '/devices/U-00097', act: press('Edit') },
  { name: 'chain-alert', path: unacknowledged },
  { name: 'chain-alerts-bulk', path: '/alerts', act: press('Acknowledge all') },
  { name: 'chain-compare', path: '/compare?devices=U-00097,U-00001' },
  { name: 'chain-labels', path: '/labels' },
  { name: 'chain-sites', path: '/settings/sites' },
  { name: 'chain-status-link', path: '/settings/sites', act: press('Make a link') },
  { name: 'chain-invite', path: '/settings/members', act: press('Invite') },
  { name: 'chain-route-add', path: '/settings/notifications', act: press('Add route') },
  { name: 'chain-maintenance', path: '/settings/quiet', act: press('Plan one') },
  { name: 'chain-silence', path: '/settings/quiet', act: press('Silence') },
  { name: 'chain-limits', path: '/settings/limits' },
  { name: 'chain-predictions', path: '/settings/predictions' },
  { name: 'chain-device-add', path: '/settings/devices', act: press('Add device') },
  { name: 'chain-menu', path: '/', act: (tab) => tab.locator('header details summary').click() },
  { name: 'chain-status', path: statusLink, anonymous: true },
];

/** grow makes a chain of so many devices in forty shops, some of them too warm or silent. */
async function grow(s, size) {
  await s.ask('POST', '/v1/setup', { code: s.code, workspace: 'Nordmarkt', timezone: 'Europe/Berlin', email: 'ada@chain.example', name: 'Ada', password: 'correct horse battery' });
  for (let i = 1; i <= 40; i++) await s.ask('POST', '/v1/sites', { name: `Nordmarkt ${['Altona', 'Bergedorf', 'Eimsbüttel', 'Harburg'][i % 4]} ${i}`, timezone: 'Europe/Berlin' });
  const types = ['walkin_freezer', 'walkin_cooler', 'display_case_open', 'reach_in_freezer'];
  const usual = [-20, 3, 2, -19];
  const serial = (i) => `U-${String(i).padStart(5, '0')}`;
  const site = (i) => (i % 40) + 1;
  for (let i = 0; i < size; i += 5000) {
    const rows = Array.from({ length: Math.min(5000, size - i) }, (_, k) => i + k).map((n) => `${serial(n)},Unit ${n},${types[n % 4]},Nordmarkt ${['Altona', 'Bergedorf', 'Eimsbüttel', 'Harburg'][site(n) % 4]} ${site(n)}`);
    const answer = await fetch(s.url + '/api/v1/devices/import', { method: 'POST', headers: { 'Content-Type': 'text/csv', Cookie: s.cookie }, body: 'serial,name,equipment_type,site\n' + rows.join('\n') });
    if (!answer.ok) throw new Error(await answer.text());
  }
  await s.ask('POST', '/v1/channels', { kind: 'webhook', name: 'Night shift', url: 'https://127.0.0.1:2/night' });
  for (let n = 0; n < 60; n++) await s.ask('PATCH', `/v1/devices/${serial(n)}`, { labels: { aisle: String(1 + (n % 7)) } });
  const now = Date.now();
  for (const minutes of [180, 120, 60, 0]) {
    for (let i = 0; i < size; i += 10_000) {
      const readings = Array.from({ length: Math.min(10_000, size - i) }, (_, k) => i + k).map((n) => ({
        device_serial: serial(n), recorded_at: new Date(now - minutes * 60_000 - 1000).toISOString(), product_zone_temp: usual[n % 4] + (n % 10) / 10 + (n % 97 === 0 && minutes < 180 ? 12 : 0),
      }));
      await s.ask('POST', '/v1/readings/batch', { readings });
    }
  }
}

const names = [
  '<img src=x onerror=alert(1)><script>alert(2)</script>',
  'ثلاجة العرض الخلفية ‮قلب',
  'The walk-in freezer behind the bakery, left of the second door X',
  'Müller’s Kühlraum № 7 🧊',
  'Supercalifragilisticexpialidociousrefrigeratorwithoutanyspaces!!',
];

/** States of a young workspace, one after the other. */
const states = [
  { pages: [{ name: 'set-up', path: '/set-up', anonymous: true }] },
  {
    async before(s) {
      await s.ask('POST', '/v1/setup', { code: s.code, workspace: 'Corner Shop', timezone: 'Europe/Berlin', email: 'ada@shop.example', name: 'Ada', password: 'correct horse battery' });
    },
    pages: [{ name: 'empty-overview', path: '/' }, { name: 'empty-wall', path: '/wall' }],
  },
  {
    async before(s) {
      await s.ask('POST', '/v1/devices', { serial: 'NEW-1', name: 'Back walk-in', equipment_type: 'walkin_freezer' });
    },
    pages: [{ name: 'never-overview', path: '/' }, { name: 'never-device', path: '/devices/NEW-1' }],
  },
  {
    async before(s) {
      const now = Date.now();
      for (const [i, name] of names.entries()) {
        await s.ask('POST', '/v1/devices', { serial: `ODD-${i}`, name, equipment_type: ['walkin_cooler', 'other', 'walkin_freezer', 'vaccine_refrigerator', 'fish_cooler'][i], labels: { aisle: name.slice(0, 40) } });
        const readings = [];
        for (let m = 300; m >= 0; m -= 2) {
          if (m > 100 && m < 160) continue; // a gap
          readings.push({ device_serial: `ODD-${i}`, recorded_at: new Date(now - m * 60_000).toISOString(), product_zone_temp: Math.round((i === 2 ? -20 : 3 + i) * 10 + 12 * Math.sin(m / 9)) / 10, humidity: 50, defrost_active: m > 40 && m < 62 });
        }
        await s.ask('POST', '/v1/readings/batch', { readings });
      }
    },
    pages: [{ name: 'odd-overview', path: '/' }, { name: 'odd-table', path: '/?view=table' }, { name: 'odd-alerts', path: '/alerts' }, { name: 'odd-devices', path: '/settings/devices' }, { name: 'odd-long', path: '/devices/ODD-4' }, { name: 'odd-device', path: '/devices/ODD-0?range=6h' }, { name: 'odd-wall', path: '/wall' }],
  },
  {
    // What is on its way to an alert, or not: a defrost, a rise that has not lasted long enough, and nobody who judges.
    async before(s) {
      const now = Date.now();
      const course = { 'ZONE-1': (m) => (m < 6 ? -12 : -20), 'ZONE-2': (m) => (m < 12 ? 7 : 3), 'ZONE-3': (m) => (m < 3 ? -1.5 : 3), 'ZONE-4': () => 4 };
      for (const [serial, at] of Object.entries(course)) {
        await s.ask('POST', '/v1/devices', { serial, name: { 'ZONE-1': 'Defrosting', 'ZONE-2': 'Door left open', 'ZONE-3': 'Set too cold', 'ZONE-4': 'Of no known type' }[serial], equipment_type: { 'ZONE-1': 'walkin_freezer', 'ZONE-4': 'salad_bar' }[serial] ?? 'walkin_cooler' });
        const readings = Array.from({ length: 300 }, (_, k) => 299 - k).map((m) => ({ device_serial: serial, recorded_at: new Date(now - m * 60_000).toISOString(), product_zone_temp: at(m), ...(serial === 'ZONE-1' ? { defrost_active: m < 8 || (m > 240 && m < 262) } : {}) }));
        await s.ask('POST', '/v1/readings/batch', { readings });
      }
    },
    pages: [{ name: 'zone-overview', path: '/?q=zone' }, { name: 'zone-table', path: '/?q=zone&view=table' }, { name: 'zone-defrost', path: '/devices/ZONE-1?range=6h' }, { name: 'zone-warm', path: '/devices/ZONE-2?range=6h' }, { name: 'zone-unjudged', path: '/devices/ZONE-4?range=6h' }],
  },
  {
    async before(s) {
      for (const i of names.keys()) await s.ask('PATCH', `/v1/devices/ODD-${i}/heartbeat`, { status: 'offline' });
    },
    pages: [{ name: 'offline-overview', path: '/' }, { name: 'offline-device', path: '/devices/ODD-3?range=6h' }, { name: 'offline-wall', path: '/wall' }],
  },
];

/** run starts the binary and waits until its words hold all that is wanted. */
function run(args, wanted) {
  return new Promise((resolve, reject) => {
    const child = spawn(root + 'bin/rimewatch', args);
    let said = '';
    const read = (part) => {
      said += part;
      const found = Object.entries(wanted).map(([key, pattern]) => [key, pattern.exec(said)?.[1]]);
      if (found.every(([, v]) => v)) resolve({ ...Object.fromEntries(found), stop: () => child.kill('SIGTERM') });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`rimewatch ${args[0]} ended with ${code}:\n${said}`)));
  });
}

/** person keeps the cookie of whoever is signed in. */
function person(url, code = '') {
  const s = { url, code, cookie: '' };
  s.ask = async (method, path, body) => {
    const answer = await fetch(url + '/api' + path, { method, headers: { 'Content-Type': 'application/json', ...(s.cookie ? { Cookie: s.cookie } : {}) }, body: JSON.stringify(body) });
    s.cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? s.cookie;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()).data;
  };
  return s;
}

mkdirSync(out, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
let complaints = 0;

/** settled waits until the page has loaded what it shows and has painted it. */
async function settled(tab) {
  await tab.waitForLoadState('networkidle');
  await tab.waitForFunction(() => document.fonts.status === 'loaded' && !document.querySelector('.skeleton, [aria-busy="true"]'));
  await tab.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
}

/** taken are the pictures of each size, theme and language, in the order they were made. */
const taken = new Map();

async function shoot(s, pages) {
  pages = pages.filter((p) => list('PAGES', [p.name]).includes(p.name));
  for (const theme of pages.length ? themes : []) {
    for (const [size, language] of sizes.flatMap((s) => languages.map((l) => [s, l]))) {
      const context = await browser.newContext({ locale: language === 'en' ? 'en-GB' : language, serviceWorkers: 'block', viewport: { width: size, height: heights[size] ?? 900 }, colorScheme: theme, deviceScaleFactor: size < 500 ? 2 : 1, reducedMotion: 'reduce' });
      for (const page of pages) {
        if (s.cookie && s.language !== language) {
          await s.ask('PATCH', '/v1/me', { language });
          s.language = language;
        }
        await context.clearCookies();
        if (!page.anonymous) {
          const [name, value] = s.cookie.split('=');
          await context.addCookies([{ name, value, url: s.url }]);
        }
        const tab = await context.newPage();
        const complain = (text) => {
          complaints++;
          console.error(`${page.name} ${size} ${theme} ${language}: ${text}`);
        };
        tab.on('console', (m) => m.type() === 'error' && !m.text().includes(`status of ${page.refused}`) && complain(m.text()));
        tab.on('pageerror', (e) => complain(e.message));
        await tab.goto(s.url + (typeof page.path === 'string' ? page.path : await page.path(s)), { waitUntil: 'load' });
        await tab.waitForFunction(() => document.querySelector('main') && !document.querySelector('.skeleton'), null, { timeout: 10_000 }).catch(() => complain('still loading after 10 s'));
        await page.act?.(tab, language);
        await settled(tab);
        for (const flaw of [...(await tab.evaluate(untidy)), ...(size < 640 ? await tab.evaluate(narrow) : [])]) complain(flaw);
        // The whole page as one window, so that what draws only what is seen draws all.
        const { height, wide } = await tab.evaluate(() => ({ height: document.documentElement.scrollHeight, wide: document.documentElement.scrollWidth - innerWidth }));
        if (wide > 0) complain(`scrolls sideways by ${wide} px`);
        if (height > (heights[size] ?? 900) && !(await tab.locator('dialog[open]').count())) {
          await tab.setViewportSize({ width: size, height: Math.min(height, 3000) });
          await settled(tab);
        }
        const variant = `${size}-${theme}${language === 'en' ? '' : '-' + language}`;
        await tab.screenshot({ path: `${out}${page.name}-${variant}.png` });
        taken.set(variant, [...(taken.get(variant) ?? []), page.name]);
        await tab.close();
      }
      await context.close();
    }
  }
}

/** sheets puts what was taken on sheets that one look takes in: four desktops or ten phones. */
async function sheets() {
  mkdirSync(out + 'sheets', { recursive: true });
  const tab = await browser.newPage();
  for (const [variant, pages] of taken) {
    const across = parseInt(variant) < 500 ? 5 : 2;
    for (let i = 0, n = 1; i < pages.length; i += 2 * across, n++) {
      const part = pages.slice(i, i + 2 * across);
      await tab.setViewportSize({ width: across === 2 ? 1560 : 1600, height: across === 2 ? 1060 : 1560 });
      const cells = part.map((name) => `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${readFileSync(`${out}${name}-${variant}.png`).toString('base64')}"></figure>`).join('');
      await tab.setContent(`<style>body{margin:0;display:grid;grid-template:repeat(2,minmax(0,1fr))/repeat(${across},minmax(0,1fr));gap:4px;height:100vh;background:#888;font:11px sans-serif}figure{margin:0;overflow:hidden}img{width:100%}</style>${cells}`);
      await tab.screenshot({ path: `${out}sheets/${variant}-${String(n).padStart(2, '0')}.png` });
    }
  }
}

const wanted = (pages) => pages.some((p) => list('PAGES', [p.name]).includes(p.name));
const stops = [];
try {
  if (wanted(demoPages)) {
    const demo = await run(['demo', '--listen', '127.0.0.1:0'], { url: /Web\s+(\S+)/, email: /E-mail\s+(\S+)/, password: /Password\s+(\S+)\n/ });
    stops.push(demo.stop);
    const s = person(demo.url);
    await s.ask('POST', '/v1/auth/sign-in', { email: demo.email, password: demo.password });
    await furnish(s);
    await shoot(s, demoPages);
  }
  if (fleetSize && wanted(chainPages)) {
    const data = mkdtempSync(join(tmpdir(), 'rimewatch-pictures-'));
    stops.push(() => rmSync(data, { recursive: true, force: true }));
    const server = await run(['serve', '--data', join(data, 'store'), '--listen', '127.0.0.1:0', '--rate-limit', '0'], { url: /msg=serving url=(\S+)/, code: /code=(\S+)/ });
    stops.push(server.stop);
    const s = person(server.url, server.code);
    await grow(s, fleetSize);
    await shoot(s, chainPages);
  }
  if (wanted(states.flatMap((x) => x.pages))) {
    const data = mkdtempSync(join(tmpdir(), 'rimewatch-pictures-'));
    stops.push(() => rmSync(data, { recursive: true, force: true }));
    const server = await run(['serve', '--data', join(data, 'store'), '--listen', '127.0.0.1:0'], { url: /msg=serving url=(\S+)/, code: /code=(\S+)/ });
    stops.push(server.stop);
    const s = person(server.url, server.code);
    for (const state of states) {
      await state.before?.(s);
      await shoot(s, state.pages);
    }
  }
  await sheets();
} finally {
  await browser.close();
  for (const stop of stops.reverse()) stop();
}
if (complaints) process.exitCode = 1;
