// Every number on the pages is the API's, for a fleet that is drawn at random: always the same one, or that of SEED=7.
import { beforeAll, expect, it } from 'vitest';
import { drawn, numbers, rounded } from './figures';
import { Api } from './server';
import { noon, openShop, type Shop } from './shop';

const { seed, random, between, pick } = drawn();

const usual: Record<string, number> = { walkin_freezer: -20, walkin_cooler: 3, meat_cooler: 1, reach_in_cooler: 3, vaccine_refrigerator: 5, no_such_type: 4 };
const serials: string[] = [];
let status: Api;

async function fill({ office, api, server }: Shop) {
  status = new Api(server.url, (await office.send('POST', '/v1/tokens', { name: 'Status', scopes: ['status:read'] })).plain_token);
  const sites: number[] = [];
  for (const name of ['Harbour', 'Mill', 'Station']) sites.push((await office.send('POST', '/v1/sites', { name, timezone: noon() })).site.id);
  const now = Date.now();
  for (let i = between(9, 16); i > 0; i--) {
    const [serial, type, fate] = [`U-${i}`, pick(Object.keys(usual)), pick(['fine', 'fine', 'fine', 'warm', 'cold', 'silent', 'never'])];
    serials.push(serial);
    await api.send('POST', '/v1/devices', { serial, name: `Unit ${i}`, equipment_type: type, site_id: pick(sites), labels: { aisle: String(1 + (i % 3)) }, offline_after_s: fate === 'silent' ? 60 : 86_400 });
    if (fate === 'never') continue;
    const wrong = between(20, 200); // min
    const until = fate === 'silent' ? between(30, 90) : 0;
    const temperature = (minutesAgo: number) => usual[type]! + (random() - 0.5) * 0.8 + (minutesAgo > wrong ? 0 : fate === 'warm' ? 9 : fate === 'cold' ? -9 : 0);
    const readings = [];
    for (let m = 330; m >= until; m -= 5) readings.push({ device_serial: serial, recorded_at: new Date(now - m * 60_000).toISOString(), product_zone_temp: Number(temperature(m).toFixed(2)) });
    await api.send('POST', '/v1/readings/batch', { readings });
  }
}

let { page, api, visitor } = {} as Shop;
const shop = openShop({ timezone: noon(), viewport: { width: 1280, height: 3000 }, fill });
beforeAll(() => ({ page, api, visitor } = shop));

const minutes = (s: number) => Math.floor(s / 60);
/** span turns "1 d 2 h", "2 h 5 min" and "never" into minutes, those of seconds into 0. */
const span = (text: string) => [...text.matchAll(/(\d+)\s(d|h|min)\b/g)].reduce((sum, [, n, unit]) => sum + Number(n) * { d: 1440, h: 60, min: 1 }[unit as 'd']!, 0);
/** texts are what the elements of a selector show. */
const texts = (selector: string) => page.locator(selector).evaluateAll((all) => all.map((e) => (e as HTMLElement).innerText.replace(/\s+/g, ' ').trim()));

it('the overview: headline, key figures, states, sites and tiles', async () => {
  await page.goto('/');
  await page.locator('[data-group]').first().waitFor();
  // Somebody may be judged, or found silent, at this very moment: page and API are asked until they agree.
  const shown = async () => {
    const figures = (await texts('[aria-label="Key figures"] > *')).map(numbers);
    const states = await page.locator('[role=group][aria-label=State] button').filter({ hasNotText: 'no alert yet' }).evaluateAll((all) => all.map((b) => b.textContent!.trim().replace(/\s+/g, ' ')));
    return {
      headline: numbers(await page.locator('h1').innerText()),
      figures,
      states: states.sort(),
      sites: Object.fromEntries(await page.locator('[data-group]').evaluateAll((all) => all.map((g) => [g.querySelector('bdi')!.textContent, [...g.querySelectorAll('svg')].map((i) => `${i.getAttribute('aria-label')} ${i.parentElement!.textContent!.trim()}`)]))),
      tiles: Object.fromEntries(await page.locator('ul[aria-label=Devices] a').evaluateAll((all) => all.map((a) => [decodeURIComponent(a.getAttribute('href')!.split('/').at(-1)!), a.querySelector('.text-\\[1\\.75rem\\]')!.textContent!.trim()]))),
    };
  };
  const words = { critical: 'Critical', warning: 'Warning', predicted: 'Predicted', offline: 'Offline', unjudged: 'Not judged', ok: 'OK' } as Record<string, string>;
  const said = async () => {
    const sum = (await api.send('GET', '/v1/devices/health/summary')).data;
    const { sites } = (await status.send('GET', '/v1/status')).data;
    const { devices } = (await api.send('GET', '/v1/devices?per_page=100')).data;
    const by = sum.conditions as Record<string, number>;
    const total = devices.length;
    const alerting = by.critical! + by.warning! + by.predicted!;
    const measured = sum.data_coverage > 0;
    return {
      headline: total === by.ok ? [total] : [total - by.ok!, total],
      figures: [
        [...(measured ? [rounded(sum.health_score), 100] : []), ...(alerting ? [alerting] : [])],
        [24, ...(measured ? [rounded(sum.temperature_compliance, 1), rounded(sum.data_coverage)] : [])],
        [sum.online_devices, sum.total_devices, ...(sum.offline_devices ? [sum.offline_devices] : [])],
        [sum.active_alerts, ...[sum.critical_alerts, sum.warning_alerts].filter(Boolean)],
      ],
      states: [`All ${total}`, ...(total > by.ok! ? [`Need attention ${total - by.ok!}`] : []), ...Object.entries(by).filter(([, n]) => n).map(([c, n]) => `${words[c]} ${n}`)].sort(),
      sites: Object.fromEntries(sites.map((s: { name: string; counts: Record<string, number> }) => [s.name, Object.keys(words).filter((c) => s.counts[c]).map((c) => `${words[c]} ${s.counts[c]}`)])),
      tiles: Object.fromEntries(devices.map((d: { serial: string; current_temp: number | null }) => [d.serial, d.current_temp == null ? '–' : `${d.current_temp.toFixed(1).replace('-', '\u2212')}°C`])),
    };
  };
  await expect.poll(async () => {
    const [a, b] = [await shown(), await said()];
    return Object.keys(a).filter((k) => JSON.stringify(sorted(a[k as 'sites'])) !== JSON.stringify(sorted(b[k as 'sites']))).map((k) => `${k}: page ${JSON.stringify(a[k as 'sites'])}, API ${JSON.stringify(b[k as 'sites'])}`);
  }).toEqual([]);
  await visitor.fine(`the overview of SEED=${seed}`);
});

/** leads is what numbers the headline of some devices has, by their conditions; never is how many have not reported yet. */
function leads(by: Record<string, number>, never: number): number[] {
  const total = Object.values(by).reduce((a, b) => a + b, 0);
  const trouble = total - (by.ok ?? 0);
  const only = total === 1 ? [] : [total];
  if (total === 0) return [];
  if (never === total || by.offline === total) return only;
  if (trouble === 0) return [total];
  return by.unjudged === trouble && total === 1 ? [] : [trouble, total];
}

it('the overview with filters: headline, key figures and devices are those of what they leave', async () => {
  const { sites } = (await api.send('GET', '/v1/sites')).data as { sites: { id: number }[] };
  /** Each filter in the address of the page, and as the API has it; a state it has not. */
  const filters: { page: string; query: string; state?: string }[] = [
    ...sites.map(({ id }) => ({ page: `site=${id}`, query: `site_id=${id}` })),
    ...Object.keys(usual).map((t) => ({ page: `type=${t}`, query: `equipment_type=${t}` })),
    { page: 'q=10 unit', query: 'q=unit 10' },
    { page: 'label=aisle:2', query: 'label.aisle=2' },
    { page: `site=${sites[0]!.id}&label=aisle:1`, query: `site_id=${sites[0]!.id}&label.aisle=1` },
    { page: `site=${sites[1]!.id}&state=attention`, query: `site_id=${sites[1]!.id}`, state: 'attention' },
    { page: 'state=critical', query: '', state: 'critical' },
    { page: 'q=nothing is called so', query: 'q=nothing is called so' },
  ];
  for (const f of filters) {
    await visitor.to(`/?${f.page}`);
    const shown = async () => ({
      headline: numbers(await page.locator('h1').innerText()),
      figures: (await texts('[aria-label="Key figures"] > *')).map(numbers),
      devices: (await page.locator('ul[aria-label=Devices] a').evaluateAll((all) => all.map((a) => decodeURIComponent(a.getAttribute('href')!.split('/').at(-1)!)))).sort(),
    });
    const said = async () => {
      const { devices } = (await api.send('GET', `/v1/devices?per_page=100&${f.query}`)).data as { devices: { serial: string; name: string; status: string; last_seen_at: string | null }[] };
      const { alerts } = (await api.send('GET', '/v1/alerts?status=active&per_page=100')).data as { alerts: { device_serial: string; severity: string }[] };
      const states = Object.fromEntries((await status.send('GET', '/v1/status')).data.sites.flatMap((s: { devices: { name: string; condition: string }[] }) => s.devices).map((d: { name: string; condition: string }) => [d.name, d.condition]));
      const by: Record<string, number> = { ok: 0 };
      for (const d of devices) by[states[d.name]] = (by[states[d.name]] ?? 0) + 1;
      const theirs = alerts.filter((a) => devices.some((d) => d.serial === a.device_serial));
      const critical = theirs.filter((a) => a.severity === 'critical').length;
      const offline = devices.filter((d) => d.status === 'offline').length;
      const alerting = (by.critical ?? 0) + (by.warning ?? 0) + (by.predicted ?? 0);
      // Health and compliance are known of a site and of everything.
      const whole = /^(site=\d+)?(&?state=\w+)?$/.test(f.page);
      const sum = whole ? (await api.send('GET', `/v1/devices/health/summary?${f.query}`)).data : null;
      if (sum) expect([sum.total_devices, sum.offline_devices, sum.active_alerts, sum.critical_alerts], `the API's own, ${f.page}`).toEqual([devices.length, offline, theirs.length, critical]);
      const measured = sum?.data_coverage > 0;
      return {
        headline: leads(by, devices.filter((d) => d.last_seen_at == null).length),
        figures: [
          [...(measured ? [rounded(sum.health_score), 100] : []), ...(sum && measured && alerting ? [alerting] : [])],
          [24, ...(measured ? [rounded(sum.temperature_compliance, 1), rounded(sum.data_coverage)] : [])],
          [devices.length - offline, devices.length, ...(offline ? [offline] : [])],
          [theirs.length, ...[critical, theirs.length - critical].filter(Boolean)],
        ],
        devices: devices.filter((d) => !f.state || (f.state === 'attention' ? states[d.name] !== 'ok' : states[d.name] === f.state)).map((d) => d.serial).sort(),
      };
    };
    await expect.poll(async () => {
      const [a, b] = [await shown(), await said()];
      return Object.keys(a).filter((k) => JSON.stringify(a[k as 'devices']) !== JSON.stringify(b[k as 'devices'])).map((k) => `${k}: page ${JSON.stringify(a[k as 'devices'])}, API ${JSON.stringify(b[k as 'devices'])}`);
    }, f.page).toEqual([]);
  }
});

/** sorted has the keys of an object in order. */
const sorted = (x: object) => (Array.isArray(x) ? x : Object.fromEntries(Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1))));

it('the page of every device: value, health, limits, alerts and excursions', async () => {
  for (const serial of serials) {
    await visitor.to(`/devices/${serial}`);
    const { device: d } = (await api.send('GET', `/v1/devices/${serial}`)).data;
    const now = page.getByRole('region', { name: 'Now', exact: true });
    if (d.current_temp != null) await expect.poll(async () => numbers(await now.innerText())[0], serial).toBe(rounded(d.current_temp, 1));
    if (d.last_seen_at == null) {
      await page.getByText('Waiting for the first reading').waitFor();
      continue;
    }
    const health = page.getByRole('region', { name: 'Health', exact: true });
    // Data gets older while we look: a point of health may go.
    if (d.health.score != null) expect(Math.abs(numbers(await health.innerText())[0]! - d.health.score), `${serial}: health`).toBeLessThanOrEqual(1);
    else expect(await health.innerText()).toContain('Not judged');
    const about = Object.fromEntries(await page.locator('dl > dt').evaluateAll((all) => all.map((t) => [t.textContent, t.nextElementSibling!.textContent])));
    if (d.limits.temp_min != null && d.limits.temp_max != null) {
      expect(numbers(about.Limits!.split('(')[0]!), `${serial}: limits`).toEqual([d.limits.temp_min, d.limits.temp_max]);
      expect(span(about['Alert after']!), `${serial}: delay`).toBe(minutes(d.limits.delay_s));
    }
    const excursions = (await api.send('GET', `/v1/excursions?device_serial=${serial}`)).data.excursions;
    const box = page.locator('.card-box', { has: page.getByRole('heading', { name: 'Excursions in the last 30 days' }) });
    await expect.poll(() => box.getByRole('listitem').count(), `${serial}: excursions`).toBe(Math.min(5, excursions.length));
    const alerts = (await api.send('GET', `/v1/alerts?device_serial=${serial}&status=all`)).data.alerts;
    const listed = page.locator('.card-box', { has: page.getByRole('heading', { name: 'Alerts', exact: true }) });
    await expect.poll(() => listed.getByRole('listitem').count(), `${serial}: alerts`).toBe(Math.min(8, alerts.length));
  }
});

it('the report: coverage, time out of limits, excursions and every day', async () => {
  const [answer] = await Promise.all([page.waitForResponse((r) => r.url().includes('/v1/reports/temperature-log?')), page.goto('/reports?site=all')]);
  const { report } = (await answer.json()).data;
  await visitor.settled();
  expect(report.devices.length).toBe(serials.length);
  for (const d of report.devices) {
    const part = page.getByRole('region', { name: d.name, exact: true });
    const head = Object.fromEntries(await part.locator('header dl > div').evaluateAll((all) => all.map((x) => [x.querySelector('dt')!.textContent, x.querySelector('dd')!.textContent!])));
    // Of a device that came during the period the day stands behind it.
    expect(numbers(head.Coverage!).slice(0, head.Coverage!.includes('since') ? 1 : 2), d.serial).toEqual(d.coverage == null ? [] : [rounded(d.coverage, 1)]);
    expect(d.in_range == null ? head['Out of limits'] : span(head['Out of limits']!), d.serial).toBe(d.in_range == null ? 'not judged' : minutes(d.out_of_range_s));
    expect(numbers(head.Excursions!), d.serial).toEqual([d.excursions.length]);
    expect(await part.locator('[data-excursion]').count()).toBe(d.excursions.length);
    await part.locator('summary').click();
    const days = await part.locator('tbody tr').evaluateAll((all) => all.map((r) => [...r.children].slice(1).map((c) => c.textContent!)));
    expect(days.map((r) => [...r.slice(0, 3).map((t) => numbers(t)[0] ?? null), span(r[3]!)]), d.serial).toEqual(
      d.days.map((x: Record<string, number | null>) => [...[x.min, x.mean, x.max].map((v) => (v == null ? null : rounded(v, 1))), minutes(x.out_of_range_s ?? 0)]),
    );
  }
});
