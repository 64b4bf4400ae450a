// What the faults that the predictor knows are called in a sentence.
import { humanised } from './format';

const faults: Record<string, string> = {
  refrigerant_undercharge: 'a low refrigerant charge',
  liquid_line_restriction: 'a restricted liquid line',
  condenser_fouling: 'a dirty condenser',
  noncondensables_overcharge: 'overcharge or non-condensable gas',
  condenser_fan_failure: 'a failed condenser fan',
  compressor_valve_leakage: 'leaking compressor valves',
  bearing_wear: 'worn compressor bearings',
  liquid_floodback: 'liquid floodback',
  evaporator_icing: 'an iced-up evaporator',
  defrost_failure: 'a failed defrost',
  evaporator_fan_failure: 'a failed evaporator fan',
  start_component_failure: 'a failing start capacitor or relay',
  contactor_fault: 'a worn contactor',
  gasket_leak: 'a leaking door gasket',
  voltage_sag: 'a low supply voltage',
  thermostat_stuck_on: 'a thermostat that is stuck on',
  sensor_drift: 'a drifting sensor',
};

/** faultName: "a dirty condenser"; an unknown fault is written as it is. */
export function faultName(slug: string): string {
  return faults[slug] ?? humanised(slug).toLowerCase();
}
