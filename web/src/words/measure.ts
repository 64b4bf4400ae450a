// The measurements as people read them: the core ones in the order in which a
// technician looks at them, then the optional ones.
import { derived, fields } from './fields';
import { degree, difference, humanised, number, toUnits, type Units } from './format';

export type Field = (typeof fields)[number]['field'];

export interface Measure {
  field: Field;
  label: string;
  short: string;
  /** The unit that people see; °C stands for theirs. */
  unit: string;
  digits: number;
  /** The smallest span a chart shows: noise is not to look like a drama. */
  span: number;
  /** Only counts up: charts show what was counted in each step. */
  counter: boolean;
  /** Answered even where it is absent. */
  core: boolean;
  /** By what the API's value is multiplied. */
  scale: number;
}

// Units that people read otherwise than the API writes them.
const shownAs: Record<string, { unit: string; scale: number; digits?: number }> = {
  '%RH': { unit: '%', scale: 1 },
  s: { unit: 'h', scale: 1 / 3600, digits: 1 },
};

const order: Field[] = ['product_zone_temp', 'compressor_discharge_temp', 'compressor_suction_temp', 'ambient_temp', 'amp_draw', 'voltage', 'vibration_level', 'humidity'];
const place = (f: Field) => (order.includes(f) ? order.indexOf(f) : order.length);

export const measures: Measure[] = fields
  .map(({ kind, ...f }) => {
    const as = shownAs[f.unit] ?? { unit: f.unit, scale: 1 };
    return { ...f, unit: as.unit, scale: as.scale, digits: as.digits ?? f.digits, span: f.span * as.scale, counter: kind === 'counter' };
  })
  .sort((a, b) => place(a.field) - place(b.field));

export function measureOf(field: string): Measure | undefined {
  return measures.find((m) => m.field === field);
}

const derivedOf = (metric: string) => derived.find((d) => d.measure === metric);

/** metricLabel names whatever an alert or prediction is about. */
export function metricLabel(metric: string): string {
  const measure = metric.replace(/_deviation$/, '');
  return measureOf(measure)?.label ?? derivedOf(measure)?.label ?? humanised(metric);
}

/** metricValue writes a value of whatever an alert or prediction is about. */
export function metricValue(v: number, metric: string, units: Units, unit?: string): string {
  const m = measureOf(metric);
  if (m && (unit == null || unit === m.unit)) return value(v, m, units);
  if (unit === 'K') return difference(v, units);
  const d = derivedOf(metric);
  if (d?.unit === 'K') return difference(v, units);
  if (d && (unit == null || unit === d.unit)) return `${number(v, d.digits)}\u202f${d.unit}`;
  return `${number(v, Math.abs(v) < 10 ? 2 : 1)}${unit ? '\u202f' + unit : ''}`;
}

export function unitOf(m: Measure, units: Units): string {
  return m.unit === '°C' ? degree(units) : m.unit;
}

/** scaled turns a value of the API into the unit that people see. */
export function scaled(v: number, m: Measure, units: Units): number {
  return m.unit === '°C' ? toUnits(v, units) : v * m.scale;
}

/** value writes a measurement with its unit. */
export function value(v: number | null | undefined, m: Measure, units: Units): string {
  if (v == null) return '–';
  const unit = unitOf(m, units);
  return number(scaled(v, m, units), m.digits) + (unit && `\u202f${unit}`);
}
