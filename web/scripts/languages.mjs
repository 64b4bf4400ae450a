// The languages of the UI, from the catalogues that the server has too. Of each
// the texts that the first page needs are a chunk of their own. The code holds the
// English text already, so a chunk has each under a short name made of it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogues, needed, texts } from './texts.mjs';

const list = 'virtual:languages';
const part = /^virtual:language\/([\w-]+)\/(first|rest)$/;

/** tags are the languages that have a catalogue. */
export function tags() {
  return existsSync(catalogues) ? readdirSync(catalogues).filter((f) => /^[a-z]{2,3}(-[\w]+)?\.json$/.test(f)).map((f) => f.replace('.json', '')) : [];
}

/** catalogue is what the file of a language holds. */
export function catalogue(tag) {
  return JSON.parse(readFileSync(join(catalogues, `${tag}.json`), 'utf8'));
}

// Run in the page, too: FNV-1a, of which twenty bits are enough for as long as some seed tells all texts apart.
function hash(text, seed) {
  let h = seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h >>> 12).toString(36);
}

/** seedOf is the first seed by which no two of the texts have one name. */
export function seedOf(keys) {
  for (let seed = 1; ; seed++) if (new Set(keys.map((k) => hash(k, seed))).size === keys.length) return seed;
}

/** languages is a plugin that makes `virtual:languages`. */
export function languages() {
  let own, first, seed; // keys
  return {
    name: 'languages',
    resolveId: (id) => (id === list || part.test(id) ? '\0' + id : undefined),
    load(id) {
      if (!id.startsWith('\0virtual:language')) return;
      const [, tag, which] = part.exec(id.slice(1)) ?? [];
      if (!own) {
        const found = texts();
        own = new Set(found.map((t) => t.key));
        seed = seedOf([...own]);
        const files = new Set([...needed('main.ts'), ...needed('pages/overview/Overview.svelte')]);
        first = new Set(found.filter((t) => files.has(t.file)).map((t) => t.key));
      }
      if (!tag) {
        const all = tags().map((t) => {
          const c = catalogue(t);
          return `{ tag: '${t}', name: ${JSON.stringify(c.name)}, decimal: '${c.decimal}', first: () => import('virtual:language/${t}/first'), rest: () => import('virtual:language/${t}/rest') }`;
        });
        return `export const languages = [{ tag: 'en', name: 'English', decimal: '.', first: () => Promise.resolve({ default: {} }), rest: () => undefined }, ${all.join(', ')}];\n${hash}\nexport const named = (text) => hash(text, ${seed});`;
      }
      this.addWatchFile(join(catalogues, `${tag}.json`));
      const some = Object.entries(catalogue(tag).texts).filter(([key, text]) => text && own.has(key) && first.has(key) === (which === 'first'));
      return `export default ${JSON.stringify(Object.fromEntries(some.map(([key, text]) => [hash(key, seed), text])))};`;
    },
  };
}
