// The order of the table of devices, as it stands in the address: ?sort=name, ?sort=-temp.
import { seenAt, type Unit } from '../../live/unit.svelte';
import { natural } from '../../words/tr';

export type Column = 'state' | 'name' | 'temp' | 'site' | 'seen';

export interface Order {
  by: Column;
  down: boolean;
}

const columns: Column[] = ['state', 'name', 'temp', 'site', 'seen'];

/** orderOf reads the address; what makes no sense is the worst first. */
export function orderOf(param: string): Order {
  const by = param.replace(/^-/, '') as Column;
  return columns.includes(by) ? { by, down: param.startsWith('-') } : { by: 'state', down: false };
}

/** turned is the address of a click on the head of a column: up, then down. */
export function turned(o: Order, by: Column): string {
  const down = o.by === by && !o.down;
  return by === 'state' && !down ? '' : (down ? '-' : '') + by;
}


const compare: Record<Exclude<Column, 'state'>, (a: Unit, b: Unit) => number> = {
  name: (a, b) => natural.compare(a.next.device.name, b.next.device.name),
  site: (a, b) => natural.compare(a.next.device.site?.name ?? '', b.next.device.site?.name ?? '') || natural.compare(a.next.device.name, b.next.device.name),
  temp: (a, b) => (a.next.temp ?? 0) - (b.next.temp ?? 0),
  seen: (a, b) => (seenAt(a.next) ?? 0) - (seenAt(b.next) ?? 0),
};
// What is not known stands last, whichever way the rest is sorted.
const unknown = { temp: (u: Unit) => u.next.temp == null, seen: (u: Unit) => seenAt(u.next) == null };

/** ordered sorts devices, which come with the worst first. */
export function ordered(units: Unit[], o: Order): Unit[] {
  if (o.by === 'state') return o.down ? units.toReversed() : units;
  const missing = o.by === 'temp' || o.by === 'seen' ? unknown[o.by] : () => false;
  const by = compare[o.by];
  return units.toSorted((a, b) => Number(missing(a)) - Number(missing(b)) || (o.down ? by(b, a) : by(a, b)) || a.id - b.id);
}
