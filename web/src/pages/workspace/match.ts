// What a route or a silence is about, as the form holds it.
import type { Schemas } from '../../api/client';
import { tr } from '../../words/tr';

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

/** everything reports whether nothing narrows a match. */
export const everything = (m: { [K in keyof Schemas['AlertMatch']]?: unknown[] }) => ![m.severities, m.types, m.site_ids, m.equipment_types, m.device_serials].some((list) => list?.length);

/** matchWords says what matches: "Critical · High temperature, Low temperature · Old Town". */
export function matchWords(m: Schemas['MatchJSON'], site: (id: number) => string, equipment: (slug: string) => string, words: (slug: string) => string): string {
  const parts = [
    (m.severities ?? []).map((s) => (s === 'critical' ? tr('Critical') : tr('Warning'))),
    (m.types ?? []).map(words),
    (m.site_ids ?? []).map(site),
    (m.equipment_types ?? []).map(equipment),
    m.device_serials ?? [],
  ]
    .filter((p) => p.length)
    .map((p) => (p.length > 4 ? tr('{list} and {n} more', { list: p.slice(0, 3).join(', '), n: p.length - 3 }) : p.join(', ')));
  return parts.length ? parts.join(' · ') : tr('Every alert');
}
