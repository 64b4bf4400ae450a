// The address bar is the state of the UI: what a page shows can be bookmarked,
// sent to a colleague and found again with "back".
class Router {
  path = $state(location.pathname);
  search = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener('popstate', () => this.read());
    document.addEventListener('click', (e) => this.click(e));
  }

  private read() {
    this.path = location.pathname;
    this.search = new URLSearchParams(location.search);
  }

  /** go opens an address of the UI. */
  go(to: string, options: { replace?: boolean; keepScroll?: boolean } = {}) {
    const from = this.path;
    history[options.replace ? 'replaceState' : 'pushState']({}, '', to);
    this.read();
    if (this.path !== from && !options.keepScroll) scrollTo(0, 0);
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
