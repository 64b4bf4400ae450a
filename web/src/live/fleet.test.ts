import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Alert, Device } from '../api/client';

const nothing = () => {};
const answers: Record<string, unknown> = {};
const events = new EventTarget(); // of the window
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events));
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events));
  vi.stubGlobal('cancelAnimationFrame', nothing);
  vi.stubGlobal('requestAnimationFrame', () => 1);
  vi.stubGlobal('document', { addEventListener: nothing, removeEventListener: nothing, visibilityState: 'visible' });
  vi.stubGlobal('location', { origin: 'https://rime.example', pathname: '/' });
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('WebSocket', class { close = nothing; });
  vi.stubGlobal('fetch', (url: string) => {
    const path = url.replace(/^\/api\/v1|\?.*/g, '');
    return path in answers ? Promise.resolve(new Response(JSON.stringify({ success: true, data: answers[path] }))) : Promise.reject(new TypeError('no network'));
  });
});
afterEach(async () => {
  (await import('./fleet.svelte')).fleet.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const device = (last_seen_at: string, current_temp: number) =>
  ({ id: 1, serial: 'WIC-1', name: 'Walk-in', status: 'online', judged: true, last_seen_at, current_temp, active_alerts: 0, labels: {}, limits: { temp_min: 0, temp_max: 5 } }) as unknown as Device;
const alert = (more: Partial<Alert> = {}) => ({ id: 7, device_id: 1, status: 'active', severity: 'warning', type: 'high_temperature', triggered_at: '2026-03-01T02:00:00.000Z', acknowledged_at: null, ...more }) as Alert;
const now = async () => (await import('./fleet.svelte')).fleet.unit(1)!.next;

test('a device that was long on its way does not take the last reading back', async () => {
  const { fleet } = await import('./fleet.svelte');
  fleet.put(device('2026-03-01T02:00:00.000Z', 4));
  fleet.event({ channel: 'readings', id: 'e1', event: 'reading.created', at: '', data: { reading: { device_id: 1, recorded_at: '2026-03-01T02:01:00.000Z', received_at: '2026-03-01T02:01:00.000Z', product_zone_temp: 9 } } });
  fleet.put({ ...device('2026-03-01T02:00:00.000Z', 4), name: 'Fish' });
  expect([(await now()).temp, (await now()).device.name]).toEqual([9, 'Fish']);
  fleet.put(device('2026-03-01T02:02:00.000Z', 3));
  expect((await now()).temp).toBe(3);
});

test('a file of a logger is no sign of life, and its newest value is shown', async () => {
  const { fleet } = await import('./fleet.svelte');
  fleet.put({ ...device('2026-03-01T02:00:00.000Z', 4), last_seen_at: null, judged: false });
  fleet.event({ channel: 'readings', id: 'e1', event: 'reading.created', at: '', data: { reading: { device_id: 1, recorded_at: '2026-03-01T02:01:00.000Z', received_at: '2026-03-01T02:09:00.000Z', product_zone_temp: 9, imported: true } } });
  expect([(await now()).temp, (await now()).lastSeenAt, (await now()).device.judged]).toEqual([9, null, false]);
});

test('an alert that has ended is not opened again by an answer from before', async () => {
  const { fleet } = await import('./fleet.svelte');
  fleet.put(device('2026-03-01T02:00:00.000Z', 9));
  fleet.putAlert(alert());
  fleet.putAlert(alert({ status: 'resolved', resolved_at: '2026-03-01T02:05:00.000Z' }));
  fleet.putAlert(alert({ acknowledged_by: 'Ada' }));
  expect((await now()).alerts).toEqual([]);
});

test('what was shown at once and failed is taken back, unless somebody has changed it meanwhile', async () => {
  const { fleet } = await import('./fleet.svelte');
  fleet.put(device('2026-03-01T02:00:00.000Z', 9));
  const before = alert({ id: 8 });
  const shown = alert({ id: 8, status: 'resolved', resolved_at: '2026-03-01T02:05:00.000Z' });
  fleet.putAlert(before);
  fleet.putAlert(shown);
  fleet.takeBack(shown, before);
  expect((await now()).alerts.map((a) => a.id)).toEqual([8]);
  const mine = alert({ id: 8, acknowledged_by: 'Ada' });
  fleet.putAlert(mine);
  fleet.putAlert(alert({ id: 8, acknowledged_by: 'Ben' }));
  fleet.takeBack(mine, before);
  expect((await now()).alerts.map((a) => a.acknowledged_by)).toEqual(['Ben']);
});

test('no device changes its place while something is pressed', async () => {
  const { fleet } = await import('./fleet.svelte');
  const order = () => fleet.units.map((u) => u.id);
  fleet.put(device('2026-03-01T02:00:00.000Z', 4));
  fleet.put({ ...device('2026-03-01T02:00:00.000Z', 4), id: 2, name: 'Yoghurt' });
  vi.advanceTimersByTime(1000);
  expect(order()).toEqual([1, 2]);
  events.dispatchEvent(Object.assign(new Event('pointerdown'), { buttons: 1 }));
  fleet.putAlert(alert({ id: 20, device_id: 2 }));
  vi.advanceTimersByTime(1000);
  expect(order()).toEqual([1, 2]);
  expect(fleet.unit(2)!.next.condition).toBe('warning'); // what is known of it goes on
  events.dispatchEvent(Object.assign(new Event('pointerup'), { buttons: 0 }));
  vi.advanceTimersByTime(100);
  expect(order()).toEqual([2, 1]);
});

test('what is kept is as old as what was last heard', async () => {
  const { fleet } = await import('./fleet.svelte');
  const { stream } = await import('./stream.svelte');
  let put: (text: string) => void = nothing;
  const text = new Promise<string>((resolve) => (put = resolve));
  vi.stubGlobal('caches', { open: async () => ({ put: async (_: string, r: Response) => put(await r.text()) }), match: async () => undefined, delete: async () => true });
  Object.assign(answers, {
    '/equipment-types': { equipment_types: [] }, '/sites': { sites: [] }, '/devices/health/summary': {}, '/readings/latest': { readings: [] },
    '/devices': { devices: [], pagination: { total: 0, last_page: 1 } }, '/alerts': { alerts: [], pagination: {} },
  });
  void fleet.start(1);
  await vi.advanceTimersByTimeAsync(16_000); // no stream came up; it was asked for once since
  expect(stream.connection).toBe('polling');
  const heard = stream.heardAt;
  for (const path of Object.keys(answers)) delete answers[path];
  await vi.advanceTimersByTimeAsync(3000);
  (fleet as unknown as { keepNow: () => void }).keepNow();
  expect(JSON.parse(await text).at).toBe(heard);
});

test('news of alerts come once a second, however many open', async () => {
  const { fleet } = await import('./fleet.svelte');
  const before = fleet.alertsChanged;
  for (let id = 1; id <= 500; id++) fleet.putAlert({ id: 9000 + id, status: 'active', device_id: null } as never);
  await vi.advanceTimersByTimeAsync(1000);
  expect(fleet.alertsChanged - before).toBe(1);
  fleet.putAlert({ id: 9999, status: 'active', device_id: null } as never);
  expect(fleet.alertsChanged - before).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(fleet.alertsChanged - before).toBe(2);
});

test('the summary of a large fleet overtakes the events of its devices', async () => {
  const { fleet } = await import('./fleet.svelte');
  fleet.put(device('2026-03-01T02:00:00.000Z', 4));
  const summary = (at: string, online_devices: number) => ({ computed_at: `2026-03-01T02:00:${at}.000Z`, online_devices });
  const says = (channel: 'readings' | 'summary', data: Record<string, unknown>) => fleet.event({ channel, id: 'e1', event: channel === 'summary' ? 'summary.updated' : 'reading.created', at: '', data });
  const many = (n: number) => {
    for (let i = 0; i < n; i++) says('readings', { reading: { device_id: 1, recorded_at: '2026-03-01T02:01:00.000Z', received_at: '2026-03-01T02:01:00.000Z', product_zone_temp: 9 } });
    return vi.advanceTimersByTimeAsync(10);
  };
  const online = () => fleet.summary?.online_devices;
  says('summary', { summary: summary('00', 0) });
  answers['/devices/health/summary'] = summary('09', 3000);

  fleet.total = 50; // whose devices are counted here
  await many(2000);
  expect(online()).toBe(0);

  fleet.total = 3000;
  says('summary', { summary: summary('01', 100) });
  await many(400);
  expect(online()).toBe(100);
  await many(100);
  expect(online()).toBe(3000);

  // What was on its way meanwhile is passed over, and what is so now asked for.
  answers['/devices/health/summary'] = summary('10', 2999);
  says('summary', { summary: summary('08', 2000) });
  expect(online()).toBe(3000);
  await many(0);
  expect(online()).toBe(2999);
  says('summary', { summary: summary('11', 2998) });
  expect(online()).toBe(2998);

  // So a clock that was set back is no harm.
  answers['/devices/health/summary'] = summary('05', 7);
  says('summary', { summary: summary('05', 7) });
  await many(0);
  expect(online()).toBe(7);

  // Of two answers the newer one stays, whichever comes last.
  const fetched = fetch;
  let late: (r: Response) => void = nothing;
  vi.stubGlobal('fetch', () => new Promise((come) => (late = come)));
  await many(500);
  vi.stubGlobal('fetch', fetched);
  answers['/devices/health/summary'] = summary('20', 21);
  await fleet.loadSummary();
  late(new Response(JSON.stringify({ success: true, data: summary('19', 20) })));
  await many(0);
  expect(online()).toBe(21);
});
