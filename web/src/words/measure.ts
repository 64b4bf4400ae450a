// The eight measurements, in the order in which a technician looks at them.
import { degree, humanised, number, toUnits, type Units } from './format';

export type Field =
  | 'product_zone_temp'
  | 'compressor_discharge_temp'
  | 'compressor_suction_temp'
  | 'ambient_temp'
  | 'amp_draw'
  | 'voltage'
  | 'vibration_level'
  | 'humidity';

export interface Measure {
  field: Field;
  label: string;
  short: string;
  unit: '°C' | '%' | 'V' | 'A' | 'mm/s';
  digits: number;
  /** The smallest span a chart shows: noise is not to look like a drama. */
  span: number;
}

export const measures: Measure[] = [
  { field: 'product_zone_temp', label: 'Product zone', short: 'Product', unit: '°C', digits: 1, span: 4 },
  { field: 'compressor_discharge_temp', label: 'Compressor discharge', short: 'Discharge', unit: '°C', digits: 1, span: 10 },
  { field: 'compressor_suction_temp', label: 'Compressor suction', short: 'Suction', unit: '°C', digits: 1, span: 6 },
  { field: 'ambient_temp', label: 'Ambient', short: 'Ambient', unit: '°C', digits: 1, span: 4 },
  { field: 'amp_draw', label: 'Current', short: 'Current', unit: 'A', digits: 1, span: 2 },
  { field: 'voltage', label: 'Voltage', short: 'Voltage', unit: 'V', digits: 0, span: 20 },
  { field: 'vibration_level', label: 'Vibration', short: 'Vibration', unit: 'mm/s', digits: 2, span: 1 },
  { field: 'humidity', label: 'Humidity', short: 'Humidity', unit: '%', digits: 0, span: 10 },
];

export function measureOf(field: string): Measure | undefined {
  return measures.find((m) => m.field === field);
}

// What the predictor looks at beside them.
const derived: Record<string, { label: string; unit: string; digits: number }> = {
  compressor_duty: { label: 'Share of time running', unit: '%', digits: 0 },
  start_vibration: { label: 'Vibration at the start', unit: 'mm/s', digits: 2 },
};

/** metricLabel names whatever an alert or prediction is about. */
export function metricLabel(metric: string): string {
  return measureOf(metric)?.label ?? derived[metric]?.label ?? humanised(metric);
}

/** metricValue writes a value of whatever an alert or prediction is about. */
export function metricValue(v: number, metric: string, units: Units, unit?: string): string {
  const m = measureOf(metric);
  if (m && (unit == null || unit === m.unit)) return value(v, m, units);
  const d = derived[metric];
  if (d && (unit == null || unit === d.unit)) return `${number(v, d.digits)}\u202f${d.unit}`;
  return `${number(v, Math.abs(v) < 10 ? 2 : 1)}${unit ? '\u202f' + unit : ''}`;
}

export function unitOf(m: Measure, units: Units): string {
  return m.unit === '°C' ? degree(units) : m.unit;
}

/** value writes a measurement with its unit. */
export function value(v: number | null | undefined, m: Measure, units: Units): string {
  if (v == null) return '–';
  const shown = m.unit === '°C' ? toUnits(v, units) : v;
  return `${number(shown, m.digits)}\u202f${unitOf(m, units)}`;
}
