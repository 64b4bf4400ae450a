// What a route or a silence is about, as the form holds it.
import type { Schemas } from '../../api/client';

export interface Match {
  severities: string[];
  types: string[];
  sites: number[];
  equipment: string[];
  serials: string[];
}

export function emptyMatch(): Match {
  return { severities: [], types: [], sites: [], equipment: [], serials: [] };
}

export function matchOf(m: Schemas['MatchJSON']): Match {
  return {
    severities: [...(m.severities ?? [])],
    types: [...(m.types ?? [])],
    sites: [...(m.site_ids ?? [])],
    equipment: [...(m.equipment_types ?? [])],
    serials: [...(m.device_serials ?? [])],
  };
}

export function matchBody(m: Match): Schemas['AlertMatch'] {
  return {
    severities: m.severities as ('warning' | 'critical')[],
    types: m.types,
    site_ids: m.sites,
    equipment_types: m.equipment,
    device_serials: m.serials,
  };
}

/** alertTypes are those that people choose from; the set is open. */
export const alertTypes: string[] = [
  'high_temperature', 'low_temperature', 'device_offline', 'site_offline', 'power_loss', 'sensor_fault', 'sensor_stale',
  'compressor_failure_predicted', 'refrigerant_leak_suspected', 'condenser_fouling_suspected', 'evaporator_icing_suspected', 'door_open_suspected',
  'compressor_start_failure', 'short_cycling', 'excessive_run_time', 'slow_recovery',
  'high_discharge_temperature', 'low_discharge_temperature', 'high_suction_temperature', 'low_suction_temperature',
  'high_amp_draw', 'low_amp_draw', 'high_voltage', 'low_voltage', 'high_vibration',
  'high_humidity', 'low_humidity', 'high_ambient_temperature', 'low_ambient_temperature',
];

/** matchWords says what matches: "Critical · High temperature, Low temperature · Old Town". */
export function matchWords(m: Schemas['MatchJSON'], site: (id: number) => string, equipment: (slug: string) => string, words: (slug: string) => string): string {
  const parts = [
    (m.severities ?? []).map(words),
    (m.types ?? []).map(words),
    (m.site_ids ?? []).map(site),
    (m.equipment_types ?? []).map(equipment),
    m.device_serials ?? [],
  ]
    .filter((p) => p.length)
    .map((p) => (p.length > 4 ? `${p.slice(0, 3).join(', ')} and ${p.length - 3} more` : p.join(', ')));
  return parts.length ? parts.join(' · ') : 'Every alert';
}
