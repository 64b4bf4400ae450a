// The last known values, kept by the browser for when the server cannot be reached.
// They belong to one person in one workspace: what another one left is never shown.
import { Failure } from '../api/client';
import { here } from '../api/here';
import { clock } from './clock.svelte';

const name = 'values';
const longest = 7 * 86_400_000; // ms: older ones help nobody

interface Kept {
  at: number;
  data: unknown;
}

// Browsers have caches over HTTPS and on the own machine alone.
const able = () => typeof caches !== 'undefined';
const address = (key: string, slug = here.slug) => `/kept/${slug && slug + '/'}${encodeURIComponent(key)}`;

/** keep keeps data that were so at a moment under a key; what cannot be kept is not needed either. */
export async function keep(key: string, data: unknown, at = clock.exact(), slug = here.slug): Promise<void> {
  if (!able()) return;
  try {
    const kept: Kept = { at, data };
    await (await caches.open(name)).put(address(key, slug), new Response(JSON.stringify(kept)));
  } catch {
    // The disk is full, or storage forbidden.
  }
}

/** kept returns what was kept under a key, null if nothing was or it is a week old. */
export async function kept<T>(key: string): Promise<{ at: number; data: T } | null> {
  if (!able()) return null;
  try {
    const found = await caches.match(address(key), { cacheName: name });
    const had: Kept | null = found ? await found.json() : null;
    return had && Date.now() - had.at < longest ? (had as { at: number; data: T }) : null;
  } catch {
    return null;
  }
}

/** forget drops everything: somebody has signed out, or looks at another workspace. */
export async function forget(): Promise<void> {
  if (able()) await caches.delete(name).catch(() => {});
}

/** away reports whether a failure says nothing but that the server cannot be reached. */
export function away(e: unknown): boolean {
  return e instanceof Failure && (e.offline || [502, 503, 504].includes(e.status));
}

/** install registers the service worker, by which the pages open without the server. */
export function install() {
  if (import.meta.env.PROD && 'serviceWorker' in navigator) void navigator.serviceWorker.register('/sw.js').catch(() => {});
}
