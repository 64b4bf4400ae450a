import { named } from 'virtual:languages';
import { describe, expect, test } from 'vitest';
import type { Alert } from '../api/client';
import { actor, person } from './actor';
import { conditionOf, worstAlert } from './condition';
import { ago, band, clockTime, date, duration, exact, grouped, limit, number, percent, temperature, trimmed } from './format';
import { reader } from './reader.svelte';
import { rowsOf } from './evidence';
import { nextWords, toldWords } from './escalation';
import { holdWords, placesWithout, withCoverage } from './coverage';
import { fleetSentence, stateOf, type Subject } from './sentence';
import { offerOf, silenceOf } from './silence';
import { natural, plural, speak, type Texts } from './tr';
import { aNumber, moment, typed } from './typed';
import { zoneNote, type ZoneState } from './zone';

const by = (texts: Texts) => Object.fromEntries(Object.entries(texts).map(([key, text]) => [named(key), text]));
const now = Date.parse('2026-11-20T20:00:00Z');
const alert = (a: Partial<Alert>): Alert =>
  ({ id: 1, type: 'high_temperature', severity: 'warning', status: 'active', title: '', prediction: null, threshold: null, value: null, condition_started_at: null, triggered_at: '2026-11-20T19:26:00Z', ...a }) as Alert;

describe('numbers', () => {
  test.each([
    [-8.25, 1, '−8.3'], [-0.04, 1, '0.0'], [0, 1, '0.0'], [4, 1, '4.0'], [-15, 0, '−15'],
  ])('%d with %d digits is %s', (v, digits, want) => expect(number(v, digits)).toBe(want));
  test('temperatures in both units', () => {
    expect(temperature(-18.4, 'c')).toBe('−18.4\u202f°C');
    expect(temperature(-18.4, 'f')).toBe('−1.1\u202f°F');
    expect(temperature(null, 'c')).toBe('–');
    expect(limit(-15, 'c')).toBe('−15\u202f°C');
    expect(limit(4.4, 'f')).toBe('39.9\u202f°F');
  });
  test.each([
    ['−18,5', -18.5], ['-18.5', -18.5], [' +2 ', 2], [',5', 0.5], ['60', 60],
  ])('“%s” is typed for %d', (text, want) => {
    expect(typed(text)).toBe(want);
    expect(text).toMatch(new RegExp(`^(?:${aNumber})$`, 'v')); // as a browser reads it
  });
  test('what is no number is not sent as one', () => {
    for (const text of ['x', '1 000', '5 °C', '--5', '1,2,3', '−']) expect(text).not.toMatch(new RegExp(`^(?:${aNumber})$`, 'v'));
  });
  test('a field has a true minus and no needless zero', () => expect([-15, 2.54, -0.04].map(trimmed)).toEqual(['−15', '2.5', '0']));
  test('bands', () => {
    expect(band(-30, -15, 'c')).toBe('−30 to −15\u202f°C');
    expect(band(null, 5, 'c')).toBe('at most 5\u202f°C');
    expect(band(null, null, 'c')).toBe('');
  });
  test('counts', () => {
    expect(plural(1, '{n} device', '{n} devices')).toBe('1 device');
    expect([0, 1, 2, 21, 10_000].map((n) => plural(n, '{n} device', '{n} devices'))).toEqual(['0 devices', '1 device', '2 devices', '21 devices', '10,000 devices']);
  });
  test('counts in Spanish, and as who reads °F writes them', () => {
    speak('es', by({ '{n} devices': { one: '{n} equipo', other: '{n} equipos' } }));
    expect([0, 1, 2, 21, 20_000].map((n) => plural(n, '{n} device', '{n} devices'))).toEqual(['0 equipos', '1 equipo', '2 equipos', '21 equipos', '20.000 equipos']);
    reader.adopt({ units: 'f', clock: '12h', dates: 'mdy' });
    expect([grouped(20_000), temperature(-18.4, 'f')]).toEqual(['20,000', '−1.1\u202f°F']);
    reader.adopt({ units: 'c', clock: '24h', dates: 'dmy' });
    expect(temperature(-18.4, 'c')).toBe('−18,4\u202f°C');
    speak('en', {});
  });
  test('who made a change, in words', () => {
    speak('es', by({ 'token {name}': 'token {name}', 'source {name}': 'fuente {name}', 'the service': 'el servicio', 'the command line': 'la línea de comandos' }));
    expect(['Ada <ada@example.com>', 'service', 'command line', 'token 3', 'source Back room', 'service desk'].map(actor)).toEqual(['Ada <ada@example.com>', 'el servicio', 'la línea de comandos', 'token 3', 'fuente Back room', 'service desk']);
    speak('en', {});
  });
  test('names in the order that people count in, and without addresses', () => {
    const said = ['Freezer 10', 'Freezer 2', 'freezer 1', 'freezer 01', 'Freezer', 'Freezer 2b', 'Freezer2', '7', '10', '', ' ', 'a b', 'ab', 'Z', 'a', 'Aisle 3 top', 'aisle 3', 'AISLE 20 x9y10', 'aisle 20 x9y9'];
    for (const tag of ['en', 'es']) {
      speak(tag, {}); // what is compared first is compared without a collator
      for (const a of said) for (const b of said) expect([tag, a, b, Math.sign(natural.compare(a, b))]).toEqual([tag, a, b, Math.sign(new Intl.Collator(tag, { numeric: true }).compare(a, b))]);
    }
    speak('en', {});
    expect(['Freezer 10', 'Freezer 2', 'freezer 1'].sort(natural.compare)).toEqual(['freezer 1', 'Freezer 2', 'Freezer 10']);
    expect(['Ada <ada@example.com>', 'ada@example.com', '<ada@example.com>'].map(person)).toEqual(['Ada', 'ada@example.com', '<ada@example.com>']);
  });
});

test('dates and numbers have one owner', () => {
  const pages = import.meta.glob(['../**/*.{ts,svelte}', '!./**', '!../**/*.test.ts', '!../api/schema.d.ts'], { query: '?raw', import: 'default', eager: true }) as Record<string, string>;
  expect(Object.keys(pages).length).toBeGreaterThan(100);
  expect(Object.keys(pages).filter((f) => /\bIntl\.|\.toLocale(Date|Time)?String\(|\.get(Hours|Date|Month)\(/.test(pages[f]!))).toEqual([]);
});

describe('times', () => {
  test.each([
    [-5, '0\u00a0s'], [34_000, '34\u00a0s'], [34 * 60_000, '34\u00a0min'], [2 * 3_600_000, '2\u00a0h'], [2 * 3_600_000 + 300_000, '2\u00a0h\u00a05\u00a0min'],
    [52 * 3_600_000, '2\u00a0d\u00a04\u00a0h'], [30 * 86_400_000, '30\u00a0d'],
  ])('%d ms is %s', (ms, want) => expect(duration(ms)).toBe(want));
  test('ago', () => {
    expect(ago(now - 2000, now)).toBe('just now');
    expect(ago(now - 90_000, now)).toBe('1\u00a0min ago');
    expect(ago(now + 2 * 86_400_000, now)).toBe('in 2\u00a0d');
  });
  test('the 24-hour clock in the zone of the site', () => {
    expect(clockTime(Date.parse('2026-11-20T23:05:00Z'), 'Europe/Berlin')).toBe('00:05');
    expect(clockTime(now, 'America/New_York')).toBe('15:00');
    expect(date(Date.parse('2025-11-20T23:05:00Z'), 'UTC', now)).toBe('20 Nov 2025');
    expect(exact(now, 'Asia/Tokyo')).toBe('Sat, 21 Nov 2026, 05:00:00 (Asia/Tokyo)');
  });
  test.each([
    ['2026-03-08T04:00', 'America/New_York', '2026-03-08T08:00:00.000Z'], // two hours after the clocks went forward
    ['2026-03-30T00:00', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-03-29T00:00', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-11-20T19:47', 'Asia/Kathmandu', '2026-11-20T14:02:00.000Z'],
  ])('%s in %s', (local, zone, want) => expect(new Date(moment(local, zone)).toISOString()).toBe(want));
  test('an unknown zone is UTC', () => expect(clockTime(now, 'Mars/Base')).toBe('20:00'));
});

describe('conditions', () => {
  test('a device has the worst of its alerts', () => {
    expect(conditionOf({ status: 'online', judged: true }, [])).toBe('ok');
    expect(conditionOf({ status: 'offline', judged: true }, [])).toBe('offline');
    expect(conditionOf({ status: 'online', judged: true }, [alert({ type: 'refrigerant_leak_suspected' })])).toBe('predicted');
    const explained = alert({ type: 'high_discharge_temperature', suppressed_by: 7 });
    const leak = alert({ type: 'refrigerant_leak_suspected', suppressed_by: null });
    expect(conditionOf({ status: 'online', judged: true }, [explained, leak])).toBe('predicted');
    expect(worstAlert([explained, leak])).toBe(leak);
    expect(conditionOf({ status: 'offline', judged: true }, [alert({ type: 'device_offline' })])).toBe('offline');
    expect(conditionOf({ status: 'online', judged: true }, [alert({ type: 'refrigerant_leak_suspected' }), alert({})])).toBe('warning');
    expect(conditionOf({ status: 'offline', judged: true }, [alert({ severity: 'critical' })])).toBe('critical');
  });
  test('a device that nobody judges is never ok', () => {
    expect(conditionOf({ status: 'online', judged: false }, [])).toBe('unjudged');
    expect(conditionOf({ status: 'offline', judged: false }, [])).toBe('offline');
    expect(conditionOf({ status: 'online', judged: false }, [alert({})])).toBe('warning');
  });
  test('of equals the oldest explains it', () => {
    const old = alert({ id: 2, triggered_at: '2026-11-20T10:00:00Z' });
    expect(worstAlert([alert({}), old])).toBe(old);
  });
});

describe('sentences', () => {
  const device: Subject = { name: 'Back walk-in', status: 'online', lastSeenAt: now - 5000, temp: -8.2, limits: { temp_min: -30, temp_max: -15 }, alerts: [], judged: true };
  test.each<[string, Partial<Subject>, string]>([
    ['too warm', { alerts: [alert({ threshold: -15 })] }, '−8.2\u202f°C, too warm for 34\u00a0min. Limit −15\u202f°C.'],
    ['too warm since now', { alerts: [alert({ title: 'Too warm', threshold: -15, triggered_at: '2026-11-20T20:00:00Z' })] }, '−8.2\u202f°C. Too warm. Limit −15\u202f°C.'],
    ['back inside', { temp: -16, alerts: [alert({ threshold: -15 })], zone: { out_of_limits_since: null, alert_at: null, defrosting: false, back_by: null, back_since: '2026-11-20T19:58:00Z', clear_at: '2026-11-20T20:08:00Z' } }, '−16.0\u202f°C, back inside since 19:58, all clear at 20:08. Limit −15\u202f°C.'],
    ['too cold by the critical limit, and warmer again', { temp: 1, limits: { temp_min: 2, temp_max: 8 }, alerts: [alert({ type: 'low_temperature', threshold: 0 })] }, '1.0\u202f°C, too cold for 34\u00a0min. Limit 2\u202f°C.'],
    ['all right', { temp: -20 }, '−20.0\u202f°C, within its limits.'],
    ['pending', {}, '−8.2\u202f°C, above −15\u202f°C; not long enough to alert.'],
    ['defrosting', { defrosting: true }, '−8.2\u202f°C during a defrost. Limit −15\u202f°C.'],
    ['above its limit', { zone: { out_of_limits_since: '2026-11-20T19:48:00Z', alert_at: '2026-11-20T20:48:00Z', defrosting: false, back_by: null, back_since: null, clear_at: null } }, '−8.2\u202f°C, above limit 12\u00a0min, alert at 60. Limit −15\u202f°C.'],
    ['a temperature that does not come any more', { temp: -17.5, tempAt: now - 12 * 3_600_000 }, 'No temperature for 12\u00a0h, though it reports. The last one was −17.5\u202f°C.'],
    ['a slow sensor', { temp: -17.5, lastSeenAt: now - 3_600_000, tempAt: now - 3_600_000 }, '−17.5\u202f°C, within its limits.'],
    ['silent', { status: 'offline', lastSeenAt: now - 3_600_000 }, 'No data for 1\u00a0h; the temperature shown is from then.'],
    ['of files alone', { status: 'offline', lastSeenAt: null }, 'Known by files of a logger alone; the temperature shown is the newest of them.'],
    ['never seen', { status: 'offline', lastSeenAt: null, temp: null }, 'Never reported.'],
    ['no limits', { limits: null, judged: false }, '−8.2\u202f°C. Nobody is alerted: choose its type or set limits.'],
    ['silent sensor', { judged: false }, '−8.2\u202f°C, but no new temperature for a day: nobody is alerted if it gets too warm.'],
    ['another alert', { temp: -20, alerts: [alert({ type: 'high_vibration', title: 'Vibration too high' })] }, 'Vibration too high for 34\u00a0min.'],
  ])('%s', (_, change, want) => expect(stateOf({ ...device, ...change }, 'c', now)).toBe(want));

  test('a share is rounded neither up to all nor down to nothing', () => expect([99.97, 100, 0.01, 0, 66.6].map((v) => percent(v))).toEqual(['99', '100', '1', '0', '67']));

  const silence = { by: 'learned', usually_s: 1800, offered_s: 0, alarm_delay_s: 7200 };
  test('how long a device may keep silent', () => {
    expect(silenceOf({ offline_after_s: 4500, silence })).toBe('1\u00a0h\u00a015\u00a0min; it usually reports within 30\u00a0min');
    expect(silenceOf({ offline_after_s: 10_800, silence: { ...silence, by: 'declared' } })).toBe('3\u00a0h; as set; later than it alerts when too warm: 2\u00a0h');
    expect(offerOf({ offline_after_s: 4500, silence })).toBe('');
    expect(offerOf({ offline_after_s: 2700, silence: { by: 'alarm_delay', usually_s: 7200, offered_s: 10_800, alarm_delay_s: 2700 } })).toBe(
      'Reports every 2\u00a0h: you would hear of silence after 3\u00a0h. Until you accept that, it counts as offline after 45\u00a0min.',
    );
  });

  const zone = (z: Partial<ZoneState>): ZoneState => ({ out_of_limits_since: null, alert_at: null, defrosting: false, back_by: null, back_since: null, clear_at: null, ...z });
  test.each<[string, Partial<ZoneState>, boolean, string]>([
    ['calm', {}, false, ''],
    ['above', { out_of_limits_since: '2026-11-20T19:48:00Z', alert_at: '2026-11-20T20:33:00Z' }, false, 'above limit 12\u00a0min, alert at 45'],
    ['below', { out_of_limits_since: '2026-11-20T19:48:00Z', alert_at: '2026-11-20T20:18:00Z' }, true, 'below limit 12\u00a0min, alert at 30'],
    ['above for seconds', { out_of_limits_since: '2026-11-20T19:59:44Z', alert_at: '2026-11-20T20:00:44Z' }, false, 'above limit 16\u00a0s, alert at 1\u00a0min'],
    ['a long delay', { out_of_limits_since: '2026-11-20T18:30:00Z', alert_at: '2026-11-20T20:30:00Z' }, false, 'above limit 1\u00a0h\u00a030\u00a0min, alert at 21:30'],
    ['no alert to come', { out_of_limits_since: '2026-11-20T19:48:00Z' }, false, 'above limit 12\u00a0min'],
    ['a known defrost', { defrosting: true, back_by: '2026-11-20T20:20:00Z', out_of_limits_since: '2026-11-20T19:48:00Z' }, false, 'defrosting, back by 21:20'],
    ['a declared defrost', { defrosting: true }, false, 'defrosting'],
    ['a late one', { defrosting: true, back_by: '2026-11-20T19:50:00Z', alert_at: '2026-11-20T20:10:00Z' }, false, 'back later than usual from a defrost, alert at 21:10'],
  ])('zone: %s', (_, z, low, want) => expect(zoneNote({ state: zone(z), low, timezone: 'Europe/Berlin' }, now)).toBe(want));

  test('evidence of a limit', () => {
    const a = alert({ metric: 'product_zone_temp', value: 9.2, peak_value: 9.6, threshold: 8, unit: '°C' });
    expect(rowsOf(a, null, null)).toMatchObject([{ before: 9.6, now: 9.2, reference: 8, band: { from: null, to: 8 } }]);
    expect(rowsOf({ ...a, value: 9.6 }, null, null)).toMatchObject([{ before: null, now: 9.6 }]);
    expect(rowsOf({ ...a, status: 'resolved', value: 3 }, null, null)).toMatchObject([{ before: 9.6, now: null }]);
    expect(rowsOf({ ...a, peak_value: 1, value: 1.5, threshold: 2 }, null, null)).toMatchObject([{ before: 1, band: { from: 2, to: null } }]);
    expect(rowsOf(alert({ metric: null }), null, null)).toEqual([]);
  });
  test('evidence of a prediction', () => {
    const evidence = (observed: number) => ({ metric: 'compressor_discharge_temp', observed, expected: 60, unit: '°C', since: null, cycles: 0, text: '' });
    const p = (observed: number) => ({ evidence: [evidence(observed), { ...evidence(5), metric: 'trend' }] }) as never;
    const present = { drivers: [{ metric: 'compressor_discharge_temp', unit: 'K', departure: 12, threshold: 6, observed: 72, expected: 61 }] } as never;
    expect(rowsOf(alert({ prediction: p(70) }), p(66), present)).toMatchObject([{ before: 66, now: 72, reference: 61, band: { from: 55, to: 67 } }]);
    expect(rowsOf(alert({ prediction: p(70), status: 'resolved' }), p(66), null)).toMatchObject([{ before: 70, now: null, reference: 60 }]);
  });

  const none = { critical: 0, warning: 0, predicted: 0, offline: 0, unjudged: 0, ok: 0 };
  test.each([
    [none, 'No devices yet.'],
    [{ ...none, ok: 1 }, 'Everything is fine (1 device).'],
    [{ ...none, ok: 48 }, 'Everything is fine (48 devices).'],
    [{ ...none, ok: 46, critical: 1, offline: 1 }, '2 of 48 need attention.'],
    [{ ...none, ok: 46, predicted: 1 }, '1 of 47 needs attention.'],
    [{ ...none, offline: 12 }, 'All 12 devices are offline.'],
    [{ ...none, ok: 46, unjudged: 2 }, '2 of 48 are not judged: nobody is alerted.'],
    [{ ...none, unjudged: 1 }, 'Your only device is not judged: nobody is alerted.'],
    [{ ...none, ok: 1, warning: 1, unjudged: 1 }, '2 of 3 need attention.'],
  ])('of the fleet %#', (by, want) => expect(fleetSentence(by)).toBe(want));
  const covered = { reachable: true, anywhere: true, count: 0, sites_without: [], reaches_you: true, reason: null, silences: [], rota_gaps: [] };
  test.each([
    [null, 'Everything is fine (2 devices).'],
    [covered, 'Everything is fine (2 devices).'],
    [{ ...covered, reachable: false, anywhere: false, count: 2, reason: 'no_channel' }, 'Everything is fine (2 devices), and nobody would be told.'],
    [{ ...covered, reachable: false, anywhere: false, count: 2, reason: 'untested' }, 'Everything is fine (2 devices), and no channel has been tested.'],
    [{ ...covered, reachable: false, anywhere: false, count: 1, reason: 'a later one' }, 'Everything is fine (2 devices), and nobody would be told.'],
    [{ ...covered, reachable: false, count: 1, reason: 'silenced' }, 'Everything is fine (2 devices), and nobody would be told of 1 site.'],
    [{ ...covered, reachable: false, count: 3, reason: 'failing' }, 'Everything is fine (2 devices), and nobody would be told of 3 sites.'],
  ])('of the fleet and who would be told %#', (c, want) => expect(withCoverage(fleetSentence({ ...none, ok: 2 }), c)).toBe(want));
  test('of places where nobody would be told', () => {
    const at = (n: number) => ({ ...covered, count: n, sites_without: [{ id: null, name: '', reason: '' }, ...['Harbour', 'Old Town', 'Airport'].map((name, id) => ({ id, name, reason: '' }))].slice(0, n) });
    expect(placesWithout(at(2))).toBe('Devices without a site, Harbour');
    expect(placesWithout(at(24))).toBe('Devices without a site, Harbour, Old Town and 21 more');
  });
  test('of what holds messages back', () => {
    const h = { comment: 'delivery', created_by: 'Mara <mara@example.com>' };
    expect(holdWords(h, '', '13:03')).toBe('Nobody is told until 13:03: delivery (Mara)');
    expect(holdWords({ ...h, comment: '' }, 'Harbour', '13:03')).toBe('Nobody is told of Harbour until 13:03 (Mara)');
    expect(holdWords({ comment: '', created_by: '' }, 'Harbour', '13:03')).toBe('Nobody is told of Harbour until 13:03');
  });
  test('of a fleet that has not reported yet', () => {
    expect(fleetSentence({ ...none, offline: 1 }, 1)).toBe('Waiting for the first reading.');
    expect(fleetSentence({ ...none, offline: 3 }, 3)).toBe('Waiting for the first readings of 3 devices.');
    expect(fleetSentence({ ...none, offline: 3 }, 2)).toBe('All 3 devices are offline.');
  });
});

describe('escalation', () => {
  const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
  const who = (...names: string[]) => names.map((name, id) => ({ kind: 'channel', id, name }));
  const e = (told: [string, number][], next: number | null = null, ...names: string[]) => ({ level: told.length, told: told.map(([name, m], id) => ({ kind: 'member', id, name, at: at(m) })), next_at: next == null ? null : at(next), next: who(...names) });
  test.each([
    [e([['Ben', -12]], 3, 'Mara'), 'Ben was told at 19:48. In 3\u00a0min Mara is told.'],
    [e([['Ben', -12], ['Kitchen', -12], ['Mara', -3]]), 'Ben and Kitchen were told at 19:48, Mara at 19:57.'],
    [e([['Ben', -25 * 60]], 0.5, 'Mara', 'Polar Service'), 'Ben was told at 19 Nov, 19:00. Mara and Polar Service are told within a minute.'],
    [e([], 12, 'a', 'b', 'c', 'd'), ' In 12\u00a0min a, b and 2 more are told.'],
    [e([]), ' Nobody has been told.'],
  ])('%#', (x, want) => expect(`${toldWords(x, 'UTC', now)} ${nextWords(x, now)}`.trimEnd()).toBe(want));
});
