// Which page an address belongs to.
import type { Component } from 'svelte';

export type Access = 'public' | 'signed-in';

export interface Route {
  /** `/devices/:serial`; a parameter is one segment. */
  path: string;
  access?: Access;
  /** Without the frame of navigation around it. */
  bare?: boolean;
  /** Its texts come with the first ones. */
  first?: boolean;
  load: () => Promise<{ default: Component<any> }>;
}

export interface Match {
  route: Route;
  params: Record<string, string>;
}

/** match finds the first route whose path fits. */
export function match(routes: Route[], pathname: string): Match | undefined {
  const parts = segments(pathname);
  for (const route of routes) {
    const want = segments(route.path);
    if (want.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = want.every((w, i) => {
      if (!w.startsWith(':')) return w === parts[i];
      params[w.slice(1)] = decoded(parts[i]!);
      return true;
    });
    if (fits) return { route, params };
  }
  return undefined;
}

function segments(path: string): string[] {
  return path.split('/').filter((s) => s !== '');
}

function decoded(s: string): string {
  try {
    return decodeURIComponent(s);
  } catch {
    return s;
  }
}
