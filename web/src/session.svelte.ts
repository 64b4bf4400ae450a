// Who is signed in, and what they may do.
import { api, ask, whenSignedOut, type Failure, type Me } from './api/client';
import { forget, keep, kept, away } from './live/kept';
import { here } from './api/here';
import { router } from './router.svelte';
import { reader } from './words/reader.svelte';
import { choose } from './words/tr';

export type Role = Me['role'];
const patience = 4000; // ms
let typed: Element | null = null;

const rank: Role[] = ['viewer', 'technician', 'admin', 'owner'];

class Session {
  me = $state.raw<Me | null>(null);
  /** Nobody has used this server yet. */
  needsSetup = $state(false);
  /** Whether the first question, who is there, has been answered. */
  known = $state(false);
  failed = $state.raw<Error | null>(null);
  /** Why a signed-in person may do nothing in the workspace that the session looks at; '' otherwise. */
  shutOut = $state<'' | 'membership' | 'second_factor' | 'which'>('');
  /** The session has ended under a form that is not sent yet: the page stays, and who signs in again goes on. */
  lapsed = $state(false);
  /** Whoever is signed in is signing out: nothing is asked any more that would be refused. */
  leaving = $state(false);

  /** start asks the server who is there. */
  async start() {
    this.failed = null;
    // A network that swallows everything says nothing: meanwhile, who was there last.
    const slow = setTimeout(() => void this.restore(), patience);
    try {
      // Asked first what everybody may ask: a refusal of /v1/me would stand as an
      // error in the browser's console of everybody who is not signed in.
      const { needed, signed_in } = await ask(api.GET('/v1/setup'));
      this.needsSetup = needed;
      if (!signed_in) this.ended();
      else if (!(await this.found())) this.shutOut = 'which';
      else this.adopt(await ask(api.GET('/v1/me')));
    } catch (e) {
      const { status, fields } = e as Partial<Failure>;
      if (status === 404 && router.slug) {
        this.ended(true);
        this.shutOut = 'membership';
      } else if (status === 403) {
        this.ended(true);
        this.shutOut = fields?.second_factor ? 'second_factor' : 'membership';
      } else if (status === 401) this.ended(); // between the two questions
      else if (!this.known && !(away(e) && (await this.restore()))) this.failed = e as Error;
      if (this.failed) return;
    } finally {
      clearTimeout(slow);
    }
    this.known = true;
  }

  /** found reports whether there is but one workspace for an address of before, which names none. */
  private async found(): Promise<boolean> {
    if (this.me || router.slug || !/^\/(devices|alerts)\/[^/]+$/.test(router.path)) return true;
    return (await import('./found')).found(router.path);
  }

  /** restore shows what was last known to whom it was shown then, and reports whether anything was. */
  private async restore(): Promise<boolean> {
    const had = this.known ? null : await kept<Me>('me');
    if (!had || this.known) return this.known;
    this.take(had.data);
    return (this.known = true);
  }

  adopt(me: Me) {
    this.take(me);
    void keep('me', me);
    void keep('me', me, undefined, ''); // for an address that names no workspace
  }

  private take(me: Me) {
    const was = this.me;
    if (was && (was.user.id !== me.user.id || was.workspace.id !== me.workspace.id)) {
      location.assign(`/w/${me.workspace.slug}/`); // what is on the screen is of another one
      return;
    }
    router.enter(me.workspace.slug);
    this.me = me;
    this.lapsed = false;
    this.needsSetup = false;
    this.shutOut = '';
    applyTheme(me.user.theme);
    reader.adopt(me.user);
    // Another language begins with a new page.
    if (choose(me.user.language)) location.reload();
  }

  /** may reports whether the person's role is at least this one. */
  may(role: Role): boolean {
    return this.me !== null && rank.indexOf(this.me.role) >= rank.indexOf(role);
  }

  /** limited reports whether the person has but some of the sites: what is about others is not theirs to change. */
  get limited(): boolean {
    return this.me?.site_ids != null;
  }

  get timezone(): string {
    return this.me?.workspace.timezone || 'UTC';
  }

  async signOut() {
    this.leaving = true;
    try {
      await ask(api.POST('/v1/auth/sign-out'));
      this.ended(true);
    } finally {
      this.leaving = false;
    }
    router.go('/sign-in');
  }

  /** look goes to another of the person's workspaces. Other windows stay where they are. */
  async look({ workspace_id, workspace_slug }: Me['memberships'][number], path = '/') {
    here.slug = '';
    await ask(api.POST('/v1/me/workspace', { body: { workspace_id } }));
    location.assign(`/w/${workspace_slug}${path}`);
  }

  /** ended forgets who was signed in: the server has ended the session. On purpose, what was typed goes, too. */
  ended(onPurpose = false) {
    this.shutOut = '';
    void forget();
    this.lapsed = !onPurpose && this.me !== null && Boolean(typed?.isConnected && typed.closest('form'));
    if (this.lapsed) return;
    this.me = null;
    here.slug = onPurpose ? '' : router.slug;
  }

  constructor() {
    whenSignedOut(() => this.ended());
    addEventListener('input', (e) => (typed = e.target as Element));
    // Somebody may have signed in in another window.
    addEventListener('focus', () => this.known && (!this.me || this.lapsed) && this.start());
  }
}

export const session = new Session();

/** applyTheme shows a theme and remembers it for the next first paint. */
export function applyTheme(theme: 'system' | 'light' | 'dark') {
  try {
    localStorage.setItem('rimewatch.theme', theme);
  } catch {
    // Storage may be forbidden; the theme then lasts as long as the page.
  }
  showTheme(theme);
}

/** showTheme shows a theme for as long as nothing else is asked for. */
export function showTheme(theme: 'system' | 'light' | 'dark') {
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'rime-dark' : 'rime-light';
  themeChanged.at = performance.now(); // not ++, which would make whoever calls it in an effect depend on it
}

/** themeChanged.at changes with the theme: charts, which paint on a canvas, follow it. */
export const themeChanged = $state({ at: 0 });

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  const theme = session.me?.user.theme ?? 'system';
  if (theme === 'system') applyTheme('system');
});
