// Scopes of tokens in words.
import { tr } from '../../words/tr';

export const presets = [
  { slug: 'ingest', label: tr('Device ingest'), hint: tr('Sends readings and heartbeats, reads nothing. The right one for devices.') },
  { slug: 'read', label: tr('Read only'), hint: tr('Reads devices, readings and alerts; changes nothing.') },
  { slug: 'full', label: tr('Full access'), hint: tr('Everything a technician may do. For programs of your own.') },
  { slug: 'admin', label: tr('Manage'), hint: tr('Everything you may do as an admin, for as long as you are one: members, notifications, sources, settings, tokens. For scripts that set up shops.') },
] as const;

export type Preset = (typeof presets)[number]['slug'];

const sets: Record<Preset, string[]> = {
  ingest: ['readings:write'],
  read: ['alerts:read', 'devices:read', 'readings:read'],
  full: ['alerts:read', 'alerts:write', 'devices:read', 'devices:write', 'readings:read', 'readings:write'],
  admin: [
    'alerts:read', 'alerts:write', 'audit:read', 'devices:read', 'devices:write', 'members', 'notifications', 'readings:read', 'readings:write', 'settings', 'sources', 'tokens',
  ],
};

const single: Record<string, string> = {
  'devices:read': tr('reads devices'), 'devices:write': tr('changes devices'),
  'readings:read': tr('reads readings'), 'readings:write': tr('sends readings'),
  'alerts:read': tr('reads alerts'), 'alerts:write': tr('handles alerts'),
  notifications: tr('manages notifications'), members: tr('manages members'), tokens: tr('manages API tokens'),
  settings: tr('changes the settings'), sources: tr('manages sources'), 'audit:read': tr('reads the audit log'), 'export:read': tr('exports everything'),
  webhooks: tr('manages webhooks'), 'events:read': tr('reads events'), records: tr('records what was done'),
};

/** scopeWords names a set of scopes: by its preset where it is one. */
export function scopeWords(scopes: readonly string[]): string {
  if (scopes.join() === 'status:read') return tr('Status page');
  const sorted = [...scopes].sort().join(' ');
  const preset = presets.find((p) => sets[p.slug].join(' ') === sorted);
  return preset ? preset.label : scopes.map((x) => single[x] ?? x).join(', ');
}
