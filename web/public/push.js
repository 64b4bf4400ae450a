// Notifications of Web Push: shows them, and acknowledges from their button. The service
// worker imports it. What is shown was written by the server in the person's language.
addEventListener('push', (e) => e.waitUntil(show(e.data?.json() ?? {})));
addEventListener('notificationclick', (e) => {
  e.notification.close();
  const told = e.notification.data ?? {};
  e.waitUntil(e.action === 'acknowledge' ? acknowledge(told) : visit(told.path));
});
addEventListener('pushsubscriptionchange', (e) => e.waitUntil(renew(e)));

/** show: a browser that hears nothing of a push ends the subscription, so there is always something. */
function show(told) {
  return registration.showNotification(told.title || 'Rimewatch', {
    body: told.body,
    tag: told.tag,
    renotify: !!told.tag,
    lang: told.lang,
    data: told,
    icon: '/icon-192.png',
    badge: '/icon-192.png',
    requireInteraction: !!told.urgent,
    vibrate: told.urgent ? [300, 150, 300, 150, 300] : [200],
    actions: told.alert_id ? [{ action: 'acknowledge', title: told.acknowledge }] : [],
  });
}

/** acknowledge asks as the page does, with the session of this browser. */
async function acknowledge(told) {
  const done = await fetch(`/api/v1/alerts/${told.alert_id}/acknowledge`, { method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json', ...named(told.path) }, body: '{}' }).catch(() => null);
  await show({ ...told, alert_id: 0, urgent: false, body: done?.ok ? told.done : told.failed });
}

/** named: a path names the workspace that it is in. */
function named(path) {
  const slug = /^\/w\/([^/]+)/.exec(path ?? '')?.[1];
  return slug ? { 'Rimewatch-Workspace': slug } : {};
}

async function visit(path = '/') {
  const [page] = await clients.matchAll({ type: 'window' });
  if (!page) return clients.openWindow(path);
  await page.focus();
  return page.navigate(path);
}

/** renew: the browser gave the device another address. */
async function renew(e) {
  const fresh = e.newSubscription ?? (await registration.pushManager.subscribe(e.oldSubscription.options));
  await fetch('/api/v1/me/push', { method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ endpoint: fresh.endpoint, keys: fresh.toJSON().keys, name: navigator.userAgentData?.platform || 'Browser', ...(e.oldSubscription ? { old_endpoint: e.oldSubscription.endpoint } : {}) }) });
}
