// What the faults that the predictor knows are called in a sentence.
import { humanised } from './format';
import { tr } from './tr';

const faults: Record<string, string> = {
  refrigerant_undercharge: tr('a low refrigerant charge'),
  liquid_line_restriction: tr('a restricted liquid line'),
  condenser_fouling: tr('a dirty condenser'),
  noncondensables_overcharge: tr('overcharge or non-condensable gas'),
  condenser_fan_failure: tr('a failed condenser fan'),
  compressor_valve_leakage: tr('leaking compressor valves'),
  bearing_wear: tr('worn compressor bearings'),
  liquid_floodback: tr('liquid floodback'),
  evaporator_icing: tr('an iced-up evaporator'),
  defrost_failure: tr('a failed defrost'),
  evaporator_fan_failure: tr('a failed evaporator fan'),
  start_component_failure: tr('a failing start capacitor or relay'),
  contactor_fault: tr('a worn contactor'),
  gasket_leak: tr('a leaking door gasket'),
  voltage_sag: tr('a low supply voltage'),
  thermostat_stuck_on: tr('a thermostat that is stuck on'),
  sensor_drift: tr('a drifting sensor'),
};

/** faultName: "a dirty condenser"; an unknown fault is written as it is. */
export function faultName(slug: string): string {
  return faults[slug] ?? humanised(slug).toLowerCase();
}
