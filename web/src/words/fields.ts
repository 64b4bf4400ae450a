// Code generated from field.go by `go test . -run TestFieldsOfTheUI -update`. DO NOT EDIT.
import { tr } from './tr';

/** fields are the measurements that a reading may hold, by their numbers. */
export const fields = [
  { field: 'product_zone_temp', label: tr('Product zone'), short: tr('Product'), unit: '°C', digits: 1, span: 4, kind: 'gauge', core: true },
  { field: 'compressor_discharge_temp', label: tr('Discharge temperature'), short: tr('Discharge'), unit: '°C', digits: 1, span: 10, kind: 'gauge', core: true },
  { field: 'compressor_suction_temp', label: tr('Suction temperature'), short: tr('Suction'), unit: '°C', digits: 1, span: 6, kind: 'gauge', core: true },
  { field: 'ambient_temp', label: tr('Ambient temperature'), short: tr('Ambient'), unit: '°C', digits: 1, span: 4, kind: 'gauge', core: true },
  { field: 'humidity', label: tr('Humidity'), short: tr('Humidity'), unit: '%RH', digits: 0, span: 10, kind: 'gauge', core: true },
  { field: 'voltage', label: tr('Voltage'), short: tr('Voltage'), unit: 'V', digits: 0, span: 20, kind: 'gauge', core: true },
  { field: 'amp_draw', label: tr('Current'), short: tr('Current'), unit: 'A', digits: 1, span: 2, kind: 'gauge', core: true },
  { field: 'vibration_level', label: tr('Vibration'), short: tr('Vibration'), unit: 'mm/s', digits: 2, span: 1, kind: 'gauge', core: true },
  { field: 'setpoint_temp', label: tr('Setpoint'), short: tr('Setpoint'), unit: '°C', digits: 1, span: 4, kind: 'gauge', core: false },
  { field: 'evaporator_temp', label: tr('Evaporator'), short: tr('Evaporator'), unit: '°C', digits: 1, span: 6, kind: 'gauge', core: false },
  { field: 'liquid_line_temp', label: tr('Liquid line'), short: tr('Liquid'), unit: '°C', digits: 1, span: 6, kind: 'gauge', core: false },
  { field: 'suction_pressure', label: tr('Suction pressure'), short: tr('Suction p.'), unit: 'kPa', digits: 0, span: 100, kind: 'gauge', core: false },
  { field: 'discharge_pressure', label: tr('Discharge pressure'), short: tr('Discharge p.'), unit: 'kPa', digits: 0, span: 200, kind: 'gauge', core: false },
  { field: 'power', label: tr('Power'), short: tr('Power'), unit: 'W', digits: 0, span: 200, kind: 'gauge', core: false },
  { field: 'energy', label: tr('Energy'), short: tr('Energy'), unit: 'kWh', digits: 2, span: 1, kind: 'counter', core: false },
  { field: 'co2', label: tr('CO₂'), short: tr('CO₂'), unit: 'ppm', digits: 0, span: 200, kind: 'gauge', core: false },
  { field: 'start_count', label: tr('Compressor starts'), short: tr('Starts'), unit: '', digits: 0, span: 2, kind: 'counter', core: false },
  { field: 'run_seconds', label: tr('Compressor run time'), short: tr('Run time'), unit: 's', digits: 0, span: 60, kind: 'counter', core: false },
] as const;

/** derived are the measures that are made of measurements. */
export const derived = [
  { measure: 'run_time_share', label: tr('Share of time running'), unit: '%', digits: 0 },
  { measure: 'start_vibration', label: tr('Vibration after starts'), unit: 'mm/s', digits: 2 },
  { measure: 'starts_per_hour', label: tr('Starts per hour'), unit: '1/h', digits: 0 },
  { measure: 'run_length', label: tr('Length of a run'), unit: 'min', digits: 0 },
  { measure: 'failed_starts_per_day', label: tr('Failed starts'), unit: '1/d', digits: 0 },
  { measure: 'failed_starts_per_hour', label: tr('Failed starts in the last two hours'), unit: '1/h', digits: 0 },
  { measure: 'runs_without_result', label: tr('Runs cut short'), unit: '', digits: 0 },
  { measure: 'defrost_rise', label: tr('Warming during defrost'), unit: 'K', digits: 1 },
  { measure: 'recovery_time', label: tr('Recovery from a defrost'), unit: 'min', digits: 0 },
  { measure: 'suction_above_zone', label: tr('Suction line above the product zone'), unit: 'K', digits: 1 },
  { measure: 'discharge_above_ambient', label: tr('Discharge line above ambient'), unit: 'K', digits: 1 },
  { measure: 'door_open_time', label: tr('Door open'), unit: 'min', digits: 0 },
  { measure: 'door_reported_time', label: tr('Door reported open'), unit: 'min', digits: 0 },
  { measure: 'zone_jump', label: tr('Jump of the product zone'), unit: 'K', digits: 1 },
  { measure: 'product_zone_still', label: tr('Standstill of the product zone'), unit: '', digits: 0 },
  { measure: 'silence', label: tr('Silence'), unit: 's', digits: 0 },
  { measure: 'reading_age', label: tr('Age of the newest measurement'), unit: 's', digits: 0 },
  { measure: 'product_zone_age', label: tr('Age of the product temperature'), unit: 's', digits: 0 },
  { measure: 'silent_devices', label: tr('Silent devices'), unit: '', digits: 0 },
  { measure: 'battery_pct', label: tr('Battery'), unit: '%', digits: 0 },
  { measure: 'battery_low', label: tr('Battery reported low'), unit: '', digits: 0 },
  { measure: 'all_temperatures', label: tr('All temperatures'), unit: '', digits: 0 },
  { measure: 'product_zone_and_ambient', label: tr('Product zone and ambient'), unit: '', digits: 0 },
  { measure: 'discharge_and_suction', label: tr('Discharge and suction'), unit: '', digits: 0 },
] as const;
