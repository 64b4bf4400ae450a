// Whether the server has been updated since this page was loaded: its document then names other scripts.

const scripts = (page: Document) => [...page.querySelectorAll('script[type=module]')].map((s) => s.getAttribute('src')).join();

class Build {
  /** Whether a reload would bring another version of the page. */
  newer = $state(false);

  /** look asks; whoever was away and is back may be another one. */
  async look() {
    const answer = await fetch('/', { cache: 'no-store' }).catch(() => null);
    const names = answer?.ok ? scripts(new DOMParser().parseFromString(await answer.text(), 'text/html')) : '';
    if (names) this.newer = names !== scripts(document);
  }
}

export const build = new Build();
