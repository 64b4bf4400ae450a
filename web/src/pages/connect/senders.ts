// Senders that wait for somebody to accept them: what they measure, and what they
// probably are. Pure.
import type { Schemas } from '../../api/client';
import { measureOf } from '../../words/measure';
import { typed } from '../../words/typed';
import { tr } from '../../words/tr';

export type Sender = Schemas['HeldSenderJSON'];
export type Binding = Schemas['BindingSettings'];

export interface Value {
  /** The expression by which a binding names it. */
  from: string;
  value: number;
  /** The last part of the expression: what the sender calls it. */
  name: string;
}

/** brokerStatus says how the broker of a source is reached. */
export function brokerStatus(b: Schemas['BrokerJSON']): string {
  if (b.problem) return b.problem;
  return { connected: tr('The broker is connected.'), connecting: tr('Connecting to the broker…'), failing: tr('The broker is not connected.'), off: tr('Switched off.') }[b.status];
}

/** unknownDevices are what can become of devices that nobody has registered. */
export const unknownDevices: { value: Schemas['SourceJSON']['on_unknown']; label: string }[] = [
  { value: 'hold', label: tr('waits until somebody accepts it') },
  { value: 'register', label: tr('is registered at once') },
  { value: 'refuse', label: tr('is refused') },
];

const item = (s: Sender) => s.preview?.items.find((i) => i.external_id === s.external_id) ?? s.preview?.items[0];

/** valuesOf lists the numbers in the sender's payload that may be a temperature: that of its battery is none. */
export function valuesOf(s: Sender): Value[] {
  return Object.entries(item(s)?.values ?? {})
    .map(([from, value]) => ({ from, value, name: nameOf(from) }))
    .filter((v) => !/^bat$|batt/i.test(v.name));
}

// What has the name of a measurement of ours is called as everywhere.
function nameOf(expression: string): string {
  const quoted = /\["([^"]+)"\]$/.exec(expression)?.[1];
  const name = quoted ?? expression.split(/[.[\]]/).filter(Boolean).at(-1) ?? expression;
  return measureOf(name)?.short ?? name;
}

/** recognised is the product temperature that was found without help, °C. */
export function recognised(s: Sender): number | null {
  return item(s)?.readings[0]?.measurements['product_zone_temp'] ?? null;
}

/** problemOf says why a payload cannot be read, null when it can. */
export function problemOf(s: Sender): string | null {
  return s.preview?.problem ?? item(s)?.problem ?? null;
}

/** guess is the type that a temperature suggests: a freezer, a cooler, or nothing known. */
export function guess(celsius: number | null): string {
  if (celsius == null) return 'other';
  if (celsius <= -8) return 'walkin_freezer';
  return celsius <= 12 ? 'walkin_cooler' : 'other';
}

/** nameFor is what people call it until they say otherwise. */
export const nameFor = (s: Sender) => s.label || s.external_id;

/** Draft is what a person says that a value of a sender is to be. */
export interface Draft {
  /** The sender's external id. */
  of: string;
  /** Which device of this sender it is, from 1. */
  nth: number;
  name: string;
  /** The value that a person said is the product temperature; '' = the one that was recognised. */
  chosen: string;
  unit: '°C' | '°F';
  /** How many of it are a degree. */
  parts: number;
  /** '' = as the temperature suggests. */
  type: string;
  /** Of a device that was registered before; '' = a new one. */
  serial: string;
  /** Minutes, as they are typed. */
  silence: string;
}

export const draftOf = (s: Sender): Draft => ({ of: s.external_id, nth: 1, name: nameFor(s), chosen: '', unit: '°C', parts: 1, type: '', serial: '', silence: '' });

/** shown is the temperature of a draft, °C; null = there is none yet. */
export function shown(s: Sender, d: Draft): number | null {
  const sent = d.chosen ? valuesOf(s).find((v) => v.from === d.chosen)?.value : undefined;
  if (sent == null) return d.nth > 1 ? null : recognised(s);
  return d.unit === '°F' ? (sent / d.parts - 32) / 1.8 : sent / d.parts;
}

/** typeOf is what a draft is: until a person says, what its temperature suggests. */
export const typeOf = (s: Sender, d: Draft) => d.type || guess(shown(s, d));

/** bindingOf is what the server is told of a draft. */
export function bindingOf(s: Sender, d: Draft): Binding {
  const fields = d.chosen ? { fields: { product_zone_temp: { from: d.chosen, ...(d.unit === '°F' ? { unit: d.unit } : {}), ...(d.parts > 1 ? { scale: 1 / d.parts } : {}) } } } : {};
  if (d.serial) return { external_id: s.external_id, device_serial: d.serial, ...fields };
  const serial = d.nth > 1 ? `${s.suggested_serial.slice(0, 60)}-${d.nth}` : s.suggested_serial;
  return {
    external_id: s.external_id, device_serial: serial, name: d.name.trim(), equipment_type: typeOf(s, d),
    ...(d.silence.trim() ? { offline_after_s: Math.round(typed(d.silence) * 60) } : {}), ...fields,
  };
}

/** boardOf is what the board of a sensor is called, '' where it is a sender of its own. */
export const boardOf = (s: Sender) => item(s)?.board ?? '';

/** boards puts the sensors of one board together, in the order in which they wait. */
export function boards(list: Sender[]): Sender[][] {
  const of = new Map<string, Sender[]>();
  for (const s of list) {
    const key = boardOf(s) ? `board ${boardOf(s)}` : `sender ${s.external_id}`;
    of.set(key, [...(of.get(key) ?? []), s]);
  }
  return [...of.values()].map((one) => one.sort((a, b) => (a.external_id < b.external_id ? -1 : 1)));
}

/** bindingsOf reads a list that says which is which: external_id,name,equipment_type[,serial], with or without a header. */
export function bindingsOf(csv: string, waiting: Sender[]): { bindings: Binding[]; unknown: string[] } {
  const bindings: Binding[] = [];
  const unknown: string[] = [];
  for (const line of csv.split(/\r?\n/)) {
    const [id = '', name = '', type = '', serial = ''] = line.split(/[,;\t]/).map((c) => c.trim().replace(/^"(.*)"$/, '$1'));
    if (!id || id.toLowerCase() === 'external_id') continue;
    const sender = waiting.find((s) => s.external_id.toLowerCase() === id.toLowerCase());
    if (!sender) {
      unknown.push(id);
      continue;
    }
    bindings.push({
      external_id: sender.external_id,
      device_serial: serial || sender.suggested_serial,
      name: name || nameFor(sender),
      equipment_type: type || guess(recognised(sender)),
    });
  }
  return { bindings, unknown };
}
