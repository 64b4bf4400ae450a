// What people do about alerts, shown at once and taken back when the server refuses.
import { api, ask, type Alert } from '../api/client';
import { session } from '../session.svelte';
import { optimistic } from '../ui/toasts.svelte';
import { clock } from './clock.svelte';
import { fleet } from './fleet.svelte';

const soon = 30_000; // ms: what is shown as done and was not heard of is taken back

/** acknowledge says: somebody is on it. A page that has the alert for itself sees what becomes of it. */
export async function acknowledge(a: Alert, see: (a: Alert) => void = () => {}): Promise<void> {
  const shown = { ...a, acknowledged_at: new Date(clock.exact()).toISOString(), acknowledged_by: session.me?.user.name || session.me?.user.email || null };
  const put = (x: Alert) => {
    see(x);
    fleet.putAlert(x);
  };
  const got = await optimistic(
    () => put(shown),
    () => ask(api.POST('/v1/alerts/{id}/acknowledge', { params: { path: { id: String(a.id) } }, body: {}, signal: AbortSignal.timeout(soon) })),
    () => {
      see(a);
      fleet.takeBack(shown, a);
    },
  );
  if (got) put(got.alert);
}

/** resolve says: it is over, whatever the readings say. It is so in ten seconds, unless it is taken back. */
export async function resolve(a: Alert, note: string, see: (a: Alert) => void = () => {}): Promise<void> {
  const got = await ask(api.POST('/v1/alerts/{id}/resolve', { params: { path: { id: String(a.id) } }, body: note ? { note } : {}, signal: AbortSignal.timeout(soon) }));
  if (!('alert' in got)) return;
  see(got.alert);
  fleet.putAlert(got.alert);
}
