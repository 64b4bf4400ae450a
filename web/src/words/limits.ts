// What the server says about limits, in the words of the forms.
import { duration } from './format';
import { show } from './show.svelte';
import { tr } from './tr';

const labels: Record<string, () => string> = {
  temp_min: () => tr('Lowest, {degree}', { degree: show.degree }),
  temp_max: () => tr('Highest, {degree}', { degree: show.degree }),
  critical_min: () => tr('Critical below, {degree}', { degree: show.degree }),
  critical_max: () => tr('Critical above, {degree}', { degree: show.degree }),
  delay_s: () => tr('Alert when too warm for'),
  low_delay_s: () => tr('Alert when too cold for'),
  critical_delay_s: () => tr('Critical after'),
  'exposure_min_per_day.warm': () => tr('Too warm, min a day'),
  'exposure_min_per_day.cold': () => tr('Critically cold, min a day'),
};

/** labelOf is how the forms call a limit that is a temperature. */
export const labelOf = (name: string) => labels[name]?.() ?? name;

// What keeps goods safe is loosened only on purpose: the server asks back once.
const hint = /: \S+ confirm_loosening/g;

/** loosens reports whether the server asks whether limits are to be loosened. */
export const loosens = (fields: Record<string, string[]>) => Object.values(fields).flat().some((m) => m.endsWith('confirm_loosening'));

/** aboutLimit is what is wrong with a limit. */
export const aboutLimit = (wrong: string) =>
  wrong
    .replaceAll(hint, '')
    .replace(/\b(?:(?:temp|critical)_(?:min|max)|(?:low_|critical_)?delay_s|exposure_min_per_day\.(?:warm|cold))\b/g, (name) => `“${labelOf(name)}”`)
    .replace(/\b(\d+) s\b/g, (_, s: string) => duration(Number(s) * 1000));
