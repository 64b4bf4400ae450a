import { describe, expect, test } from 'vitest';
import { dependent, heardBy, type Key } from './keys';
import { kinds } from './kinds';
import { pictures } from './pictures';
import { mistaken, ownId, payload, said } from './send';
import { addressOf, isLoopback } from '../../words/address';
import { bindingOf, bindingsOf, boards, draftOf, guess, recognised, shown, typeOf, valuesOf, type Sender } from './senders';

const sender = (id: string, temperature: number | null, values: Record<string, number> = {}): Sender =>
  ({
    external_id: id, label: `Probe ${id}`, suggested_serial: id.toUpperCase(), sample: '', reason: '', payloads: 1, bytes: 1, first_at: '', last_at: '',
    preview: { template: 'auto', ignored: false, problem: null, items: [{ external_id: id, label: '', values, readings: [{ measurements: temperature == null ? {} : { product_zone_temp: temperature } }] }] },
  }) as unknown as Sender;

describe('what to copy', () => {
  test.each(kinds.filter((k) => !k.topics).map((k) => [k.slug, k] as const))('%s names the server and the key', (slug, k) => {
    const steps = k.steps('https://cold.example:8443', 'in_KEY', 'mqtts://cold.example:8883');
    const text = steps.flatMap((s) => s.copy ?? []).map((c) => c.text).join('\n');
    expect(text).toContain('in_KEY');
    expect(text).toContain('cold.example');
    expect(text).toContain(slug === 'mqtt' ? '8883' : '8443');
  });
});

test('what people own is drawn', () => expect(Object.keys(pictures).sort()).toEqual(kinds.map((k) => k.slug).sort()));

test('who cannot take in MQTT says so', () => {
  const steps = kinds.find((k) => k.slug === 'mqtt')!.steps('https://cold.example', 'in_KEY', '');
  expect(steps.map((s) => s.text).join()).toContain('--mqtt-listen');
  expect(steps.flatMap((s) => s.copy ?? [])).toEqual([]);
});

describe('a phone', () => {
  const memory = () => {
    const m = new Map<string, string>();
    return { getItem: (k: string) => m.get(k) ?? null, setItem: (k: string, v: string) => void m.set(k, v) };
  };
  test('has one name', () => {
    const m = memory();
    expect(ownId(m)).toMatch(/^phone-[0-9a-f]{6}$/);
    expect(ownId(m)).toBe(ownId(m));
    expect(ownId({ getItem: () => { throw new Error(); }, setItem: () => {} })).toMatch(/^phone-/);
  });
  test('sends what a person writes', () => expect(JSON.parse(payload('phone-1', ' −18,5 ', '°C', 80))).toEqual({ id: 'phone-1', temperature: '-18.5', unit: '°C', battery: 80 }));
  test.each(['-18.2', ' −18,5 ', '3,5', '200', '-100', '+4', '.5', '4.'])('takes %s', (text) => expect(mistaken(text, '°C')).toBe(''));
  test.each(['abc', '1e3', '3,5,1', '', '-', '.', '4 °C', '0x10', 'NaN', 'Infinity'])('does not send %s', (text) => expect(mistaken(text, '°C')).toContain('Type a number'));
  test.each([['500', '°C'], ['-100.1', '°C'], ['393', '°F'], ['-149', '°F']])('does not send %s %s', (text, unit) => expect(mistaken(text, unit)).toContain('between'));
  test('sends 390 °F', () => expect(mistaken('390', '°F')).toBe(''));
  test.each([
    [200, { accepted: 1, duplicates: 0, held: 0, unreadable: 0, left_out: [] }, 'Stored.'],
    [200, { accepted: 0, duplicates: 0, held: 1, unreadable: 0, left_out: [] }, 'Accept this phone'],
    [200, { accepted: 0, duplicates: 0, held: 1, unreadable: 1, left_out: [] }, 'It was not stored: no temperature'],
    [200, { accepted: 0, duplicates: 0, held: 0, unreadable: 0, left_out: [{ reason: 'is "x", not a number' }] }, 'not a number'],
    [401, undefined, 'does not work'],
    [429, undefined, '429'],
    [0, undefined, 'cannot be reached'],
  ])('%s is said', (status, o, want) => expect(said(status, o)).toContain(want));
});

describe('senders', () => {
  test('which addresses only this computer can reach', () => {
    for (const host of ['localhost', 'LOCALHOST', 'shop.localhost', '127.0.0.1', '127.9.0.1', '[::1]', '::1']) expect(isLoopback(host), host).toBe(true);
    for (const host of ['192.168.1.20', 'rimewatch.local', 'localhost.example.com', '10.127.0.1', '[fe80::1]']) expect(isLoopback(host), host).toBe(false);
  });

  test('what they measure', () => {
    const s = sender('a1', -19.4, { 'payload.object.temperature': -19.4, 'payload.object["door count"]': 3, 'payload.product_zone_temp': -19 });
    expect(recognised(s)).toBe(-19.4);
    expect(valuesOf(s).map((v) => v.name)).toEqual(['temperature', 'door count', 'Product']);
  });
  test('its battery is no temperature', () => {
    const s = sender('a1', null, { 'payload.battery': 100, 'payload.Batt': 3, 'payload.bat': 90, 'payload.bath': 4, 'payload.t': 3.5 });
    expect(valuesOf(s).map((v) => v.name)).toEqual(['bath', 't']);
  });
  test.each([[-19.4, 'walkin_freezer'], [3, 'walkin_cooler'], [22, 'other'], [null, 'other']])('%s °C is probably %s', (t, want) => expect(guess(t)).toBe(want));
  test('a list says which is which', () => {
    const waiting = [sender('a1', -19.4), sender('b2', 3)];
    const { bindings, unknown } = bindingsOf('external_id,name,equipment_type\nA1,Back freezer,walkin_freezer,WIF-1\nb2\nc3,Nobody\n', waiting);
    expect(bindings).toEqual([
      { external_id: 'a1', device_serial: 'WIF-1', name: 'Back freezer', equipment_type: 'walkin_freezer' },
      { external_id: 'b2', device_serial: 'B2', name: 'Probe b2', equipment_type: 'walkin_cooler' },
    ]);
    expect(unknown).toEqual(['c3']);
  });
});

describe('the keys of a source', () => {
  const key = (id: number, made: string, heard: [string, string][], more: Partial<Key> = {}) =>
    ({ id, name: '', prefix: `in_${id}`, made_at: made, used_at: heard[0]?.[1] ?? null, device_count: heard.length, heard: heard.map(([name, at]) => ({ device_serial: name, name, at })), ...more }) as Key;
  test('say who was heard, and who has not come back', () => {
    expect(heardBy(key(1, '2026-01-02', [['A', '2026-01-03'], ['B', '2026-01-01']]))).toBe('Heard by it: A. Not since it was replaced: B.');
    expect(heardBy(key(1, '2026-01-02', []))).toBe('Nothing was heard by it yet.');
    expect(heardBy(key(1, '2026-01-02', [], { used_at: '2026-01-03' }))).toContain('nobody has accepted');
  });
  test('name who goes silent: not who has another key since', () => {
    const one = key(1, '2026-01-01', [['A', '2026-01-03'], ['B', '2026-01-03']]);
    expect(dependent(one, [one, key(2, '2026-01-01', [['B', '2026-01-04'], ['A', '2026-01-02']])])).toEqual(['A']);
    expect(dependent(one, [one])).toEqual(['A', 'B']);
  });
});

describe('a board', () => {
  const of = (id: string, board: string, temperature: number | null) => {
    const s = sender(id, temperature, { 'payload.a': -185, 'payload.b': 38 });
    s.preview!.items[0]!.board = board;
    return s;
  };
  test('has its probes together', () => {
    const list = [of('esp/2', 'esp', 3), of('other', '', 1), of('esp/1', 'esp', -19), of('x/1', 'x', 2)];
    expect(boards(list).map((b) => b.map((s) => s.external_id))).toEqual([['esp/1', 'esp/2'], ['other'], ['x/1']]);
  });
  test('is bound by its values, each in its unit and parts', () => {
    const s = of('esp', '', null);
    const [a, b] = [{ ...draftOf(s), chosen: 'payload.a', parts: 10 }, { ...draftOf(s), nth: 2, name: 'Second', chosen: 'payload.b', unit: '°F' as const, silence: '90' }];
    expect([shown(s, a), typeOf(s, a), shown(s, b)]).toEqual([-18.5, 'walkin_freezer', (38 - 32) / 1.8]);
    expect(bindingOf(s, a)).toEqual({ external_id: 'esp', device_serial: 'ESP', name: 'Probe esp', equipment_type: 'walkin_freezer', fields: { product_zone_temp: { from: 'payload.a', scale: 0.1 } } });
    expect(bindingOf(s, b)).toEqual({ external_id: 'esp', device_serial: 'ESP-2', name: 'Second', equipment_type: 'walkin_cooler', offline_after_s: 5400, fields: { product_zone_temp: { from: 'payload.b', unit: '°F' } } });
    expect(shown(s, { ...draftOf(s), nth: 2 })).toBeNull();
  });
});

test.each([['192.168.1.20:8080', 'http://192.168.1.20:8080'], [' https://cold.example/x/ ', 'https://cold.example/x'], ['', ''], ['http://', ''], ['a b', '']])('%s is the address %s', (text, want) => expect(addressOf(text)).toBe(want));
