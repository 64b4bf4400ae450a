// Who is signed in, and what they may do.
import { api, ask, whenSignedOut, type Failure, type Me } from './api/client';
import { forget, keep, kept, away } from './live/kept';
import { router } from './router.svelte';
import { reader } from './words/reader.svelte';
import { choose } from './words/tr';

export type Role = Me['role'];
const rank: Role[] = ['viewer', 'technician', 'admin', 'owner'];

class Session {
  me = $state.raw<Me | null>(null);
  /** Nobody has used this server yet. */
  needsSetup = $state(false);
  /** Whether the first question, who is there, has been answered. */
  known = $state(false);
  failed = $state.raw<Error | null>(null);
  /** Why a signed-in person may do nothing in the workspace that the session looks at; '' otherwise. */
  shutOut = $state<'' | 'membership' | 'second_factor'>('');

  /** start asks the server who is there. */
  async start() {
    this.failed = null;
    this.shutOut = '';
    try {
      // Asked first what everybody may ask: a refusal of /v1/me would stand as an
      // error in the browser's console of everybody who is not signed in.
      const { needed, signed_in } = await ask(api.GET('/v1/setup'));
      this.needsSetup = needed;
      if (signed_in) this.adopt(await ask(api.GET('/v1/me')));
      else {
        this.me = null;
        void forget();
      }
    } catch (e) {
      const { status, fields } = e as Partial<Failure>;
      if (status === 403) this.shutOut = fields?.second_factor ? 'second_factor' : 'membership';
      else if (status !== 401) {
        // What was last known is shown to whom it was shown then.
        const had = away(e) ? await kept<Me>('me') : null;
        if (had) {
          this.take(had.data);
          this.known = true;
          return;
        }
        this.failed = e as Error;
        return;
      }
      this.me = null; // or the session ended between the two questions
    }
    this.known = true;
  }

  adopt(me: Me) {
    void keep('me', me);
    this.take(me);
  }

  private take(me: Me) {
    this.me = me;
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

  get timezone(): string {
    return this.me?.workspace.timezone || 'UTC';
  }

  async signOut() {
    await ask(api.POST('/v1/auth/sign-out'));
    this.ended();
    router.go('/sign-in');
  }

  /** ended forgets who was signed in: the server has ended the session. */
  ended() {
    this.me = null;
    this.shutOut = '';
    void forget();
  }

  constructor() {
    whenSignedOut(() => this.ended());
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
