// What people do about alerts, shown at once and taken back when the server refuses.
import { api, ask, type Alert } from '../api/client';
import { session } from '../session.svelte';
import { optimistic, toasts } from '../ui/toasts.svelte';
import { clock } from './clock.svelte';
import { fleet } from './fleet.svelte';
import { tr } from '../words/tr';

/** acknowledge says: somebody is on it. */
export async function acknowledge(a: Alert, note?: string, expiresInS?: number): Promise<Alert | undefined> {
  const who = session.me?.user.name || session.me?.user.email || null;
  const got = await optimistic(
    () => fleet.putAlert({ ...a, acknowledged_at: new Date(clock.exact()).toISOString(), acknowledged_by: who, note: note ?? a.note }),
    () => ask(api.POST('/v1/alerts/{id}/acknowledge', { params: { path: { id: String(a.id) } }, body: { note, expires_in_s: expiresInS } })),
    () => fleet.putAlert(a),
  );
  if (got) fleet.putAlert(got.alert);
  return got?.alert;
}

/** resolve says: it is over, whatever the readings say. */
export async function resolve(a: Alert, note?: string): Promise<Alert | undefined> {
  const got = await optimistic(
    () => fleet.putAlert({ ...a, status: 'resolved', resolved_at: new Date(clock.exact()).toISOString(), resolution: 'manual' }),
    () => ask(api.POST('/v1/alerts/{id}/resolve', { params: { path: { id: String(a.id) } }, body: { note } })),
    () => fleet.putAlert(a),
  );
  if (got) {
    fleet.putAlert(got.alert);
    toasts.say(tr('Resolved.'));
  }
  return got?.alert;
}
