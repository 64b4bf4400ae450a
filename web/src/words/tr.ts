// What people read, in their language. The English text is the key into the
// catalogues of all others (internal/catalogue/*.json), so that the code reads as
// people do and English needs no catalogue. Which language it is, is settled here,
// before any module runs that imports this one: texts may stand in constants, and
// another language begins with a new page.
import { languages, named } from 'virtual:languages';
import { reader } from './reader.svelte';

export { languages };

type Plural = Partial<Record<Intl.LDMLPluralRule, string>>;
export type Texts = Record<string, string | Plural>;
type Names<S extends string> = S extends `${string}{${infer N}}${infer R}` ? N | Names<R> : never;
type Values<S extends string> = Record<Names<S>, string | number>;

const stored = 'rimewatch.language';

function remembered(): string | null {
  try {
    return localStorage.getItem(stored);
  } catch {
    return null; // storage may be forbidden, and tests have none
  }
}

/** best is the first language that we have of those that a person reads. */
export function best(wanted: readonly string[]): string {
  for (const w of wanted) {
    const found = languages.find((l) => l.tag === w) ?? languages.find((l) => l.tag === w.split('-')[0]);
    if (found) return found.tag;
  }
  return 'en';
}

/** language is the tag of the language in which this page is written. */
export let language = 'en';
let texts: Texts = {};
let rules = new Intl.PluralRules('en');
// A collator takes a slow phone more than a tenth of a second to make: the few names of a first screen do without, as long as they
// are plain, and are in the same order.
let collator: Intl.Collator | undefined;
let compared = 0;
const plain = /^[a-z\d ]*$/i;
const padded = (s: string) => s.toLowerCase().replace(/\d+/g, (n) => n.padStart(64, '0'));

/** natural compares names as the language does, Freezer 2 before Freezer 10. */
export const natural = {
  compare(a: string, b: string): number {
    if (compared++ < 1000 && plain.test(a) && plain.test(b)) {
      const [x, y] = [padded(a), padded(b)];
      if (x !== y) return x < y ? -1 : 1;
    }
    return (collator ??= new Intl.Collator(language, { numeric: true })).compare(a, b);
  },
};

/** speak sets the language and its texts, by the names that they have in its parts. */
export function speak(tag: string, some: Texts) {
  language = tag;
  texts = some;
  rules = new Intl.PluralRules(tag);
  collator = undefined;
  compared = 0;
}

/** tr is a text in the language of the page. Values stand where their names are in
 * braces; what follows ## tells two texts apart that are one in English. */
export function tr<S extends string>(text: S, ...values: [Names<S>] extends [never] ? [] : [Values<S>]): string {
  const own = texts[named(text)];
  return fill(typeof own === 'string' ? own : text.replace(/##.*$/, ''), values[0]);
}

/** plural is a text about a number, {n} in it: "1 device", "10,000 devices". */
export function plural<S extends string>(n: number, one: string, many: S, ...values: [Exclude<Names<S>, 'n'>] extends [never] ? [] : [Omit<Values<S>, 'n'>]): string {
  const own = texts[named(many)];
  const s = own == null || typeof own === 'string' ? (n === 1 ? one : many) : (own[rules.select(n)] ?? own.other ?? many);
  return fill(s, { n: grouped(n), ...values[0] });
}

function fill(s: string, values: Record<string, string | number> | undefined): string {
  return values ? s.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : s;
}

/** grouped: "10,000"; who reads °F reads numbers as in the United States, and as English does. What a browser knows of
 * numbers takes a slow phone a twentieth of a second to load, so it is not asked about what is plain. */
export function grouped(n: number): string {
  const plain = language === 'en' || reader.units === 'f';
  return n % 1 || (n > 999 && !plain) ? n.toLocaleString(plain ? 'en-US' : language) : String(n).replace(/\B(?=(...)+$)/g, ',');
}

/** choose makes a language that of the pages to come, '' = the browser's, and
 * reports whether this page is written in another. */
export function choose(tag: string): boolean {
  try {
    if (tag) localStorage.setItem(stored, tag);
    else localStorage.removeItem(stored);
  } catch {
    return false; // it could not be remembered, so a new page would not help
  }
  return best([tag, ...browser()]) !== language;
}

function browser(): readonly string[] {
  return typeof navigator === 'undefined' ? [] : (navigator.languages ?? []);
}

const chosen = languages.find((l) => l.tag === best([remembered() ?? '', ...browser()]));
// What the overview needs comes before it; the texts of another page come with that page.
if (chosen && chosen.tag !== 'en') {
  if (location.pathname !== '/') chosen.rest()?.catch(() => {}); // meanwhile
  speak(chosen.tag, (await chosen.first()).default);
  document.documentElement.lang = chosen.tag;
}

/** allTexts resolves when the texts of all pages are there. */
export async function allTexts(): Promise<void> {
  const more = await chosen?.rest();
  if (more) Object.assign(texts, more.default);
}
