import { anybodys, pageAt, parted } from './addresses';
import { here } from './api/here';

// The address bar is the state of the UI: what a page shows can be bookmarked,
// sent to a colleague and found again with "back". Every page but those that anybody may see is one of a
// workspace, /w/{slug}/…: what a page shows does not depend on what another window looks at.

/** linkTo is the address of a page in the workspace of this one. */
export function linkTo(path: string): string {
  void router?.slug; // a link that was drawn before the workspace was known is drawn again
  return pageAt(path);
}

class Router {
  /** The path of the page within its workspace. */
  path = $state(parted(location.pathname).path);
  search = $state.raw(new URLSearchParams(location.search));

  /** The slug that the address names, '' = none. */
  slug = $state(parted(location.pathname).slug);

  constructor() {
    here.slug = this.slug;
    addEventListener('popstate', () => this.read());
    document.addEventListener('click', (e) => this.click(e));
  }

  private read() {
    ({ path: this.path, slug: this.slug } = parted(location.pathname));
    this.search = new URLSearchParams(location.search);
  }

  /** go opens an address of the UI. */
  go(to: string, options: { replace?: boolean; keepScroll?: boolean } = {}) {
    const from = this.path;
    history[options.replace ? 'replaceState' : 'pushState']({}, '', linkTo(to));
    this.read();
    if (this.path !== from && !options.keepScroll) scrollTo(0, 0);
  }

  /** enter puts the workspace into the address of a page that is one of it. */
  enter(slug: string) {
    here.slug = slug;
    if (this.slug !== slug && !anybodys.test(this.path)) this.go(this.path + location.search + location.hash, { replace: true, keepScroll: true });
  }

  /** Whether the page is one that anybody may see. */
  get open(): boolean {
    return anybodys.test(this.path);
  }

  /** param reads one value of the query. */
  param(name: string): string {
    return this.search.get(name) ?? '';
  }

  /** set changes values of the query; empty ones vanish. By default nothing is
   * added to the history: filters are not places one goes back to. */
  set(values: Record<string, string | undefined>, options: { push?: boolean } = {}) {
    const next = new URLSearchParams(this.search);
    for (const [k, v] of Object.entries(values)) {
      if (v) next.set(k, v);
      else next.delete(k);
    }
    const q = next.toString();
    this.go(this.path + (q ? '?' + q : ''), { replace: !options.push, keepScroll: true });
  }

  // Links are ordinary <a href>: they open in new tabs, can be copied, and work
  // with every key. Plain clicks on them stay within the page.
  private click(e: MouseEvent) {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const a = (e.target as Element).closest?.('a');
    if (!a || a.target || a.hasAttribute('download') || a.origin !== location.origin) return;
    if (a.pathname.startsWith('/api/')) return;
    e.preventDefault();
    if (a.pathname === location.pathname && a.hash) return;
    this.go(a.pathname + a.search);
  }
}

export const router = new Router();
