// Whether this browser can be notified, and what to call it. Pure but for what the
// browser says of itself.
import { tr } from '../../words/tr';

export type Ability = 'yes' | 'install' | 'insecure' | 'unsupported' | 'denied';

/** ability says what keeps a browser from being notified. On an iPhone only what is on the home screen can be. */
export function ability(w: { isSecureContext: boolean; PushManager?: unknown; navigator: { userAgent: string; serviceWorker?: unknown }; Notification?: { permission: string } }): Ability {
  if (!w.isSecureContext) return 'insecure';
  if (!w.PushManager || !w.navigator.serviceWorker || !w.Notification) return /iPhone|iPad/.test(w.navigator.userAgent) ? 'install' : 'unsupported';
  return w.Notification.permission === 'denied' ? 'denied' : 'yes';
}

const browsers: [RegExp, string][] = [[/Edg\//, 'Edge'], [/SamsungBrowser\//, 'Samsung Internet'], [/Firefox\//, 'Firefox'], [/Chrome\//, 'Chrome'], [/Safari\//, 'Safari']];
const systems: [RegExp, string][] = [[/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS/, 'macOS'], [/Linux/, 'Linux']];

/** called names a browser as people do: "Android, Chrome". */
export function called(agent: string): string {
  const of = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(agent))?.[1];
  return [of(systems), of(browsers)].filter(Boolean).join(', ') || tr('Browser');
}

/** hexOf is the SHA-256 of a text, as the server names endpoints. */
export async function hexOf(text: string): Promise<string> {
  const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum), (b) => b.toString(16).padStart(2, '0')).join('');
}
