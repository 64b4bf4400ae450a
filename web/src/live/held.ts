// Which devices a silence or a maintenance window is about.
import type { Device, Hold } from '../api/client';

type Place = Pick<Device, 'id' | 'equipment_type'> & { site?: { id: number } | null };

const among = <T>(list: T[], one: T) => list.length === 0 || list.includes(one);

/** about reports whether a hold is about alerts of a device, of whatever type and severity. */
export function about(h: Pick<Hold, 'kind' | 'site_ids' | 'equipment_types' | 'device_ids'>, d: Place): boolean {
  const site = d.site?.id ?? 0;
  if (h.kind === 'maintenance') return h.site_ids.length + h.device_ids.length === 0 || h.site_ids.includes(site) || h.device_ids.includes(d.id);
  return among(h.site_ids, site) && among(h.equipment_types, d.equipment_type) && among(h.device_ids, d.id);
}

/** heldFor is how much of a device's alerts nobody is told of. */
export function heldFor(list: Hold[], d: Place): 'all' | 'some' | null {
  const those = list.filter((h) => about(h, d));
  if (those.some((h) => h.types.length + h.severities.length === 0)) return 'all';
  return those.length ? 'some' : null;
}
