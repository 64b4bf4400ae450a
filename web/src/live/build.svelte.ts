// Whether the server has been updated since this page was loaded: its document then names another script.

class Build {
  /** Whether a reload would bring another version of the page. */
  newer = $state(false);

  /** look asks; whoever was away and is back may be another one. */
  async look() {
    const page = await fetch('/', { cache: 'no-store' }).then((r) => r.text(), () => '');
    // What names no script of ours is not from the server.
    if (page.includes('/assets/')) this.newer = !page.includes(document.querySelector('[type=module]')!.getAttribute('src')!);
  }
}

export const build = new Build();
