// The catalogues of all languages hold what is read, and nothing else.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { languages, named } from 'virtual:languages';
import { catalogue, tags } from '../../scripts/languages.mjs';
import { catalogues, texts, untranslated } from '../../scripts/texts.mjs';

const own = texts();
const servers = JSON.parse(readFileSync(join(catalogues, 'server.json'), 'utf8'));
const used = new Set([...own.map((x) => x.key), ...servers]);
const names = (s) => (s.match(/\{\w+\}|%(\[\d\])?[a-zA-Z]/g) ?? []).map((x) => x.replace(/\[\d\]/, '').replace('%M', '%m')).sort();

test('everything that is read is a text of the catalogue', () => expect(untranslated()).toEqual([]));
test('texts are found', () => expect(own.length).toBeGreaterThan(500));
test('a plural has a singular', () => expect(own.filter((x) => x.one === '').map((x) => x.key)).toEqual([]));

test('no two texts have one name in what a page loads', () => {
  const keys = [...new Set(own.map((x) => x.key))];
  expect(new Set(keys.map(named)).size).toBe(keys.length);
});

describe.each(tags())('%s', (tag) => {
  const { name, decimal, texts: all } = catalogue(tag);
  test('has a name and a decimal sign', () => expect([Boolean(name), [',', '.'].includes(decimal)]).toEqual([true, true]));
  test('is loaded in two parts, every text in one of them', async () => {
    const l = languages.find((l) => l.tag === tag);
    const [first, rest] = [(await l.first()).default, (await l.rest()).default];
    const read = Object.entries(all).filter(([key, text]) => text && own.some((x) => x.key === key));
    expect({ ...first, ...rest }).toEqual(Object.fromEntries(read.map(([key, text]) => [named(key), text])));
    expect(Object.keys(first).length + Object.keys(rest).length).toBe(read.length);
  });
  test('has no text that nobody reads', () => expect(Object.keys(all).filter((k) => !used.has(k))).toEqual([]));
  test('misses no text', () => expect([...used].filter((k) => !all[k])).toEqual([]));
  test('has the placeholders of the English text', () => {
    const wrong = Object.entries(all).flatMap(([key, v]) =>
      Object.entries(typeof v === 'string' ? { other: v } : v).filter(([form, s]) => {
        const want = names(key), have = names(s);
        return form === 'one' ? have.some((x) => !want.includes(x)) : want.join() !== have.join();
      }).map(([, s]) => `${key} → ${s}`),
    );
    expect(wrong).toEqual([]);
  });
  test('has every plural form of the language', () => {
    const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories.filter((f) => f !== 'many');
    const wrong = own.filter((x) => x.one !== undefined && all[x.key] && forms.some((f) => !all[x.key][f])).map((x) => x.key);
    expect(wrong).toEqual([]);
  });
});
