// Code generated from field.go and derived.go by `go test . -run TestFieldsOfTheUI -update`. DO NOT EDIT.

/** fields are the measurements that a reading may hold, by their numbers. */
export const fields = [
  { field: 'product_zone_temp', label: 'Product zone', short: 'Product', unit: '°C', digits: 1, span: 4, kind: 'gauge', core: true },
  { field: 'compressor_discharge_temp', label: 'Discharge temperature', short: 'Discharge', unit: '°C', digits: 1, span: 10, kind: 'gauge', core: true },
  { field: 'compressor_suction_temp', label: 'Suction temperature', short: 'Suction', unit: '°C', digits: 1, span: 6, kind: 'gauge', core: true },
  { field: 'ambient_temp', label: 'Ambient temperature', short: 'Ambient', unit: '°C', digits: 1, span: 4, kind: 'gauge', core: true },
  { field: 'humidity', label: 'Humidity', short: 'Humidity', unit: '%RH', digits: 0, span: 10, kind: 'gauge', core: true },
  { field: 'voltage', label: 'Voltage', short: 'Voltage', unit: 'V', digits: 0, span: 20, kind: 'gauge', core: true },
  { field: 'amp_draw', label: 'Current', short: 'Current', unit: 'A', digits: 1, span: 2, kind: 'gauge', core: true },
  { field: 'vibration_level', label: 'Vibration', short: 'Vibration', unit: 'mm/s', digits: 2, span: 1, kind: 'gauge', core: true },
  { field: 'setpoint_temp', label: 'Setpoint', short: 'Setpoint', unit: '°C', digits: 1, span: 4, kind: 'gauge', core: false },
  { field: 'evaporator_temp', label: 'Evaporator', short: 'Evaporator', unit: '°C', digits: 1, span: 6, kind: 'gauge', core: false },
  { field: 'liquid_line_temp', label: 'Liquid line', short: 'Liquid', unit: '°C', digits: 1, span: 6, kind: 'gauge', core: false },
  { field: 'suction_pressure', label: 'Suction pressure', short: 'Suction p.', unit: 'kPa', digits: 0, span: 100, kind: 'gauge', core: false },
  { field: 'discharge_pressure', label: 'Discharge pressure', short: 'Discharge p.', unit: 'kPa', digits: 0, span: 200, kind: 'gauge', core: false },
  { field: 'power', label: 'Power', short: 'Power', unit: 'W', digits: 0, span: 200, kind: 'gauge', core: false },
  { field: 'energy', label: 'Energy', short: 'Energy', unit: 'kWh', digits: 2, span: 1, kind: 'counter', core: false },
  { field: 'co2', label: 'CO₂', short: 'CO₂', unit: 'ppm', digits: 0, span: 200, kind: 'gauge', core: false },
  { field: 'start_count', label: 'Compressor starts', short: 'Starts', unit: '', digits: 0, span: 2, kind: 'counter', core: false },
  { field: 'run_seconds', label: 'Compressor run time', short: 'Run time', unit: 's', digits: 0, span: 60, kind: 'counter', core: false },
] as const;

/** derived are the measures that are made of measurements. */
export const derived = [
  { measure: 'run_time_share', label: 'Share of time running', unit: '%', digits: 0 },
  { measure: 'start_vibration', label: 'Vibration after starts', unit: 'mm/s', digits: 2 },
  { measure: 'starts_per_hour', label: 'Starts per hour', unit: '1/h', digits: 0 },
  { measure: 'run_length', label: 'Length of a run', unit: 'min', digits: 0 },
  { measure: 'failed_starts_per_day', label: 'Failed starts', unit: '1/d', digits: 0 },
  { measure: 'failed_starts_per_hour', label: 'Failed starts in the last two hours', unit: '1/h', digits: 0 },
  { measure: 'runs_without_result', label: 'Runs cut short', unit: '', digits: 0 },
  { measure: 'defrost_rise', label: 'Warming during defrost', unit: 'K', digits: 1 },
  { measure: 'recovery_time', label: 'Recovery from a defrost', unit: 'min', digits: 0 },
  { measure: 'suction_above_zone', label: 'Suction line above the product zone', unit: 'K', digits: 1 },
  { measure: 'discharge_above_ambient', label: 'Discharge line above ambient', unit: 'K', digits: 1 },
  { measure: 'door_open_time', label: 'Door open', unit: 'min', digits: 0 },
  { measure: 'silence', label: 'Silence', unit: 's', digits: 0 },
  { measure: 'reading_age', label: 'Age of the newest measurement', unit: 's', digits: 0 },
  { measure: 'silent_devices', label: 'Silent devices', unit: '', digits: 0 },
] as const;
