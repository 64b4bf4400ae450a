// The sites of a chain beside each other: their order, as it stands in the address, and the file of them.
import type { Schemas } from '../../api/client';
import { natural } from '../../words/tr';

export type Standing = Schemas['Standing'];
export type Column = 'name' | 'attention' | 'compliance' | 'out' | 'critical' | 'response';

export interface Order {
  by: Column;
  down: boolean;
}

// What each column counts; null is not known, and stands last.
const figures: Record<Exclude<Column, 'name'>, (s: Standing) => number | null> = {
  attention: (s) => s.attention,
  compliance: (s) => (s.temperature_compliance == null ? null : -s.temperature_compliance),
  out: (s) => s.excursion_minutes,
  critical: (s) => s.critical_raised,
  response: (s) => s.response_s,
};

/** orderOf reads the address; what makes no sense is the site that needs most attention first. */
export function orderOf(param: string): Order {
  const by = param.replace(/^-/, '') as Column;
  return by === 'name' || Object.hasOwn(figures, by) ? { by, down: param.startsWith('-') } : { by: 'attention', down: false };
}

/** turned is the address of a click on the head of a column: the worst first, then the best. */
export function turned(o: Order, by: Column): string {
  const down = o.by === by && !o.down;
  return by === 'attention' && !down ? '' : (down ? '-' : '') + by;
}

/** ordered sorts sites: by name as people count, by a figure the worst first. */
export function ordered(list: Standing[], { by, down }: Order): Standing[] {
  const names = (a: Standing, b: Standing) => Number(a.site_id == null) - Number(b.site_id == null) || natural.compare(a.name, b.name);
  if (by === 'name') return list.toSorted((a, b) => (down ? names(b, a) : names(a, b)));
  const of = figures[by];
  return list.toSorted((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x == null || y == null) return Number(x == null) - Number(y == null) || names(a, b);
    return (down ? x - y : y - x) || names(a, b);
  });
}

/** fileOf writes sites as CSV, with the names that the API has. A cell that a spreadsheet would take for a formula is text. */
export function fileOf(list: Standing[]): string {
  const columns = ['site_id', 'name', 'devices', 'online', 'attention', 'active_alerts', 'health_score', 'temperature_compliance', 'data_coverage', 'excursions', 'excursion_minutes', 'critical_raised', 'answered', 'response_s'] as const;
  const cell = (v: string | number | null) => {
    const text = typeof v === 'number' ? String(Math.round(v * 100) / 100) : (v ?? '').replace(/^[=+\-@\t\r]/, "'$&");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.join(','), ...list.map((s) => columns.map((c) => cell(s[c])).join(','))].join('\r\n') + '\r\n';
}
