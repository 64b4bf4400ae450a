// What the server says about limits, in the words of the forms.
import { show } from './show.svelte';
import { tr } from './tr';

const labels: Record<string, () => string> = {
  temp_min: () => tr('Lowest, {degree}', { degree: show.degree }),
  temp_max: () => tr('Highest, {degree}', { degree: show.degree }),
  critical_min: () => tr('Critical below, {degree}', { degree: show.degree }),
  critical_max: () => tr('Critical above, {degree}', { degree: show.degree }),
};

/** labelOf is how the forms call a limit that is a temperature. */
export const labelOf = (name: string) => labels[name]?.() ?? name;

// What keeps goods safe is loosened only on purpose: the server asks back once.
const hint = /: \S+ confirm_loosening/g;

/** loosens reports whether the server asks whether limits are to be loosened. */
export const loosens = (fields: Record<string, string[]>) => Object.values(fields).flat().some((m) => m.endsWith('confirm_loosening'));

/** aboutLimit is what is wrong with a limit. */
export const aboutLimit = (wrong: string) => wrong.replaceAll(hint, '').replace(/\b(?:temp|critical)_(?:min|max)\b/g, (name) => `“${labelOf(name)}”`);
