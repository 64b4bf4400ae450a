// Every number on the pages of a chain of two thousand units is the API's, for a fleet that is drawn at random: always
// the same one, or that of SEED=7.
import { beforeAll, expect, it } from 'vitest';
import { drawn, numbers, plain, rounded } from './figures';
import { noon, openShop, type Shop } from './shop';

const { seed, random, between, pick } = drawn();
const size = 2000;
const usual: Record<string, number> = { walkin_freezer: -20, walkin_cooler: 3, meat_cooler: 1, reach_in_cooler: 3, vaccine_refrigerator: 5, no_such_type: 4 };
const fates = [...Array.from({ length: 40 }, () => 'fine'), 'warm', 'cold', 'silent', 'never'];
const sites: { id: number; name: string }[] = [];
const serials: string[] = [];

async function fill({ office, api }: Shop) {
  for (let i = 1; i <= 8; i++) sites.push((await office.send('POST', '/v1/sites', { name: `Market ${i}`, timezone: noon() })).site);
  const rows: string[] = [];
  const readings: Record<string, unknown>[] = [];
  const now = Date.now();
  for (let i = 0; i < size; i++) {
    const [serial, type, fate] = [`U-${i}`, pick(Object.keys(usual)), pick(fates)];
    serials.push(serial);
    rows.push([serial, `Unit ${i}`, type, pick(sites).name, fate === 'silent' ? 60 : 86_400].join(','));
    if (fate === 'never') continue;
    const wrong = between(20, 200); // min
    const until = fate === 'silent' ? between(30, 90) : 0;
    for (let m = 240; m >= until; m -= 30) {
      const off = m > wrong ? 0 : fate === 'warm' ? 9 : fate === 'cold' ? -9 : 0;
      readings.push({ device_serial: serial, recorded_at: new Date(now - m * 60_000).toISOString(), product_zone_temp: rounded(usual[type]! + random() * 0.8 + off, 2) });
    }
  }
  await api.import('serial,name,equipment_type,site,offline_after_s\n' + rows.join('\n'));
  for (let i = 0; i < readings.length; i += 5000) await api.send('POST', '/v1/readings/batch', { readings: readings.slice(i, i + 5000) });
}

let { page, api, visitor } = {} as Shop;
const shop = openShop({ timezone: noon(), viewport: { width: 1280, height: 1200 }, fill });
beforeAll(() => ({ page, api, visitor } = shop));

type Device = { serial: string; current_temp: number | null };
async function devicesOf(query: string): Promise<Device[]> {
  const all: Device[] = [];
  for (let n = 1; ; n++) {
    const { devices } = (await api.send('GET', `/v1/devices?per_page=1000&page=${n}&${query}`)).data;
    all.push(...devices);
    if (devices.length < 1000) return all;
  }
}

const words: Record<string, string> = { critical: 'Critical', warning: 'Warning', predicted: 'Predicted', offline: 'Offline', unjudged: 'Not judged', ok: 'OK' };

/** shown is what the overview says. */
const shown = async () => ({
  headline: numbers(await page.locator('h1').innerText()),
  figures: (await page.locator('[aria-label="Key figures"] > *').evaluateAll((all) => all.map((e) => (e as HTMLElement).innerText))).map(numbers),
  states: (await page.locator('[role=group][aria-label=State] button').filter({ hasNotText: 'no alert yet' }).evaluateAll((all) => all.map((b) => b.textContent!))).map(plain).sort(),
});

/** said is what it should say by the API's summary. */
function said(sum: Record<string, any>) {
  const by = sum.conditions as Record<string, number>;
  const total = sum.total_devices;
  const alerting = by.critical! + by.warning! + by.predicted!;
  return {
    headline: [total - by.ok!, total],
    figures: [
      [rounded(sum.health_score), 100, ...(alerting ? [alerting] : [])],
      [24, rounded(sum.temperature_compliance, 1), rounded(sum.data_coverage)],
      [sum.online_devices, total, ...(sum.offline_devices ? [sum.offline_devices] : [])],
      [sum.active_alerts, ...[sum.critical_alerts, sum.warning_alerts].filter(Boolean)],
    ],
    states: [`All ${total}`, `Need attention ${total - by.ok!}`, ...Object.entries(by).filter(([, n]) => n).map(([c, n]) => `${words[c]} ${n}`)].sort(),
  };
}

/** agrees asks page and API until they say the same: somebody may be judged, or found silent, at this very moment. */
const agrees = (where: string, a: () => Promise<object>, b: () => Promise<object>) =>
  expect.poll(async () => {
    const [x, y] = [await a(), await b()] as Record<string, unknown>[];
    return Object.keys(y!).filter((k) => JSON.stringify(x![k]) !== JSON.stringify(y![k])).map((k) => `${k}: page ${JSON.stringify(x![k])}, API ${JSON.stringify(y![k])}`);
  }, `${where}, SEED=${seed}`).toEqual([]);

it('the overview of everything', async () => {
  await page.goto('/');
  await page.locator('[data-group]').first().waitFor();
  await agrees('the overview', shown, async () => said((await api.send('GET', '/v1/devices/health/summary')).data));
  const temps = Object.fromEntries((await devicesOf('')).map((d) => [d.serial, d.current_temp == null ? '–' : `${d.current_temp.toFixed(1)}°C`]));
  expect(Object.keys(temps).length).toBe(size);
  const tiles = await page.locator('ul[aria-label=Devices] a').evaluateAll((all) => all.map((a) => [decodeURIComponent(a.getAttribute('href')!.split('/').at(-1)!), a.querySelector('.text-\\[1\\.75rem\\]')!.textContent!]));
  expect(tiles.length).toBeGreaterThan(5);
  for (const [serial, temp] of tiles) expect(plain(temp!), serial).toBe(temps[serial!]);
});

it('its sites', async () => {
  const cards = async () => Object.fromEntries(await page.locator('[data-group]').evaluateAll((all) => all.map((g) => [g.querySelector('bdi')!.textContent, [...g.querySelectorAll('svg')].map((i) => `${i.getAttribute('aria-label')} ${i.parentElement!.textContent!.trim()}`)])));
  await agrees('the sites', cards, async () => {
    const of: Record<string, string[]> = {};
    for (const s of sites) {
      const by = (await api.send('GET', `/v1/devices/health/summary?site_id=${s.id}`)).data.conditions;
      of[s.name] = Object.keys(words).filter((c) => by[c]).map((c) => `${words[c]} ${by[c]}`);
    }
    return of;
  });
});

it('what filters leave', async () => {
  const site = pick(sites);
  await page.goto(`/?site=${site.id}`);
  await visitor.settled();
  await agrees(site.name, shown, async () => said((await api.send('GET', `/v1/devices/health/summary?site_id=${site.id}`)).data));
  for (const [filter, query] of [['type=walkin_cooler', 'equipment_type=walkin_cooler'], ['q=unit', 'q=unit']] as const) {
    await page.goto(`/?${filter}`);
    await visitor.settled();
    await agrees(filter, async () => ({ all: (await shown()).states.find((s) => s.startsWith('All')) }), async () => ({ all: `All ${(await devicesOf(query)).length}` }));
  }
});

it('the alerts and some devices', async () => {
  await page.goto('/alerts');
  await visitor.settled();
  await agrees('the alerts', async () => ({ n: numbers(await page.getByText(/^[\d,]+ alerts$/).first().innerText())[0] }), async () => ({ n: (await api.send('GET', '/v1/devices/health/summary')).data.active_alerts }));
  for (const serial of [pick(serials), pick(serials), pick(serials), (await api.send('GET', '/v1/alerts?status=active&per_page=1')).data.alerts[0].device_serial as string]) {
    await page.goto(`/devices/${serial}`);
    await visitor.settled();
    const { device: d } = (await api.send('GET', `/v1/devices/${serial}`)).data;
    if (d.current_temp != null) await expect.poll(async () => numbers(await page.getByRole('region', { name: 'Now', exact: true }).innerText())[0], serial).toBe(rounded(d.current_temp, 1));
    const alerts = (await api.send('GET', `/v1/alerts?device_serial=${serial}&status=all`)).data.alerts;
    const listed = page.locator('.card-box', { has: page.getByRole('heading', { name: 'Alerts', exact: true }) });
    await expect.poll(() => listed.getByRole('listitem').count(), `${serial}: alerts`).toBe(Math.min(8, alerts.length));
  }
});
