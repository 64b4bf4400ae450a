// The languages of the UI, from the catalogues that the server has too. Of each
// the texts that the first page may need are a chunk of their own.
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

/** languages is a plugin that makes `virtual:languages`. */
export function languages() {
  let own, first; // keys
  return {
    name: 'languages',
    resolveId: (id) => (id === list || part.test(id) ? '\0' + id : undefined),
    load(id) {
      if (!id.startsWith('\0virtual:language')) return;
      const [, tag, which] = part.exec(id.slice(1)) ?? [];
      if (!tag) {
        const all = tags().map((t) => {
          const c = catalogue(t);
          return `{ tag: '${t}', name: ${JSON.stringify(c.name)}, decimal: '${c.decimal}', first: () => import('virtual:language/${t}/first'), rest: () => import('virtual:language/${t}/rest') }`;
        });
        return `export const languages = [{ tag: 'en', name: 'English', decimal: '.', first: () => Promise.resolve({ default: {} }), rest: () => undefined }, ${all.join(', ')}];`;
      }
      this.addWatchFile(join(catalogues, `${tag}.json`));
      if (!own) {
        const found = texts();
        own = new Set(found.map((t) => t.key));
        const files = new Set([...needed('main.ts'), ...needed('pages/overview/Overview.svelte', true)]);
        first = new Set(found.filter((t) => files.has(t.file)).map((t) => t.key));
      }
      const some = Object.entries(catalogue(tag).texts).filter(([key, text]) => text && own.has(key) && first.has(key) === (which === 'first'));
      return `export default ${JSON.stringify(Object.fromEntries(some))};`;
    },
  };
}
