// Senders that wait for somebody to accept them: what they measure, and what they
// probably are. Pure.
import type { Schemas } from '../../api/client';
import { measureOf } from '../../words/measure';
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

/** isLoopback reports whether only this computer can reach a host. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);
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
