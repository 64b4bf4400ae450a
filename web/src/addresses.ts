// The addresses of pages: each is one of a workspace, /w/{slug}/…, but those that anybody may see. Pure.
import { here } from './api/here';

export const anybodys = /^\/(a|o|send|status|sign-in|forgot|reset|no-workspace|set-up|invitation|policies)(?=[/?#]|$)/;

/** parted is an address without the workspace, and the slug of that; '' = it names none. */
export function parted(pathname: string): { slug: string; path: string } {
  const m = /^\/w\/([^/]+)(\/.*)?$/.exec(pathname);
  return m ? { slug: m[1]!, path: m[2] || '/' } : { slug: '', path: pathname };
}

/** pageAt is the address of a page in the workspace of this one. */
export function pageAt(path: string): string {
  return !here.slug || path.startsWith('/w/') || anybodys.test(path) ? path : `/w/${here.slug}${path}`;
}
