// The theme that somebody sees, and the way to the other one.
import { api, ask } from '../api/client';
import { applyTheme, session } from '../session.svelte';
import { optimistic } from '../ui/toasts.svelte';

/** isDark reports what is seen, which the system may have chosen. */
export const isDark = () => document.documentElement.dataset.theme === 'rime-dark';

/** turnTheme changes from light to dark, or back, and remembers it. */
export function turnTheme() {
  const me = session.me!;
  const theme = isDark() ? 'light' : 'dark';
  const set = (t: typeof me.user.theme) => {
    session.me = { ...me, user: { ...me.user, theme: t } };
    applyTheme(t);
  };
  void optimistic(() => set(theme), () => ask(api.PATCH('/v1/me', { body: { theme } })), () => set(me.user.theme));
}
