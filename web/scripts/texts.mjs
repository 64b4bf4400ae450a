// Finds what people read in the sources: the texts that go through tr() and
// plural(), and those that should and do not.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';

export const source = fileURLToPath(new URL('../src', import.meta.url));
export const catalogues = fileURLToPath(new URL('../../internal/catalogue', import.meta.url));

/** files are the sources that hold texts, relative to src. */
export function files() {
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((f) => /\.(svelte|ts)$/.test(f) && !/(\.test|\.d)\.ts$/.test(f))
    .sort();
}

/** needed returns the sources that a file imports, those that these import, and so
 * on, itself included; those that are imported when they are wanted are left out. */
export function needed(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  const code = readFileSync(join(source, file), 'utf8');
  for (const [, only, how, path] of code.matchAll(/\b(?:import|export)( type)?\b[^;'()]*?(\(?)'(\.{1,2}\/[^']+)'/g)) {
    const at = join(dirname(file), path);
    const next = [`${at}.ts`, at].find((f) => /\.(svelte|ts)$/.test(f) && existsSync(join(source, f)));
    if (next && !only && !how) needed(next, found);
  }
  return found;
}

/** tree is the code of a file and its syntax, templates and scripts alike. */
export function tree(file) {
  const text = readFileSync(join(source, file), 'utf8');
  const code = file.endsWith('.svelte') ? text : `<script lang="ts">\n${text}\n</script>`;
  const ast = parse(code, { modern: true, filename: file });
  return { code, ast, roots: [ast.fragment, ast.instance?.content, ast.module?.content].filter(Boolean) };
}

/** visit calls see for every node below root, with the nodes above it. */
export function visit(root, see, above = []) {
  if (Array.isArray(root)) {
    for (const n of root) visit(n, see, above);
    return;
  }
  if (!root || typeof root !== 'object') return;
  if (root.type && see(root, above) === false) return;
  const next = root.type ? [...above, root] : above;
  for (const key in root) if (!/^(parent|loc|metadata|css|.*omments)$/.test(key) && typeof root[key] === 'object') visit(root[key], see, next);
}

const called = (n) => (n.type === 'CallExpression' && n.callee.type === 'Identifier' ? n.callee.name : '');

/** texts returns what goes through tr() and plural(): the key, its English singular where it has one, and the file. */
export function texts(list = files()) {
  const found = [];
  for (const file of list) {
    for (const root of tree(file).roots) {
      visit(root, (n) => {
        const name = called(n);
        const args = name === 'tr' ? [n.arguments[0]] : name === 'plural' ? [n.arguments[2], n.arguments[1]] : [];
        if (args.length === 0) return;
        for (const a of args) {
          for (const s of strings(a)) found.push(name === 'tr' ? { key: s, file } : a === args[0] ? { key: s, one: strings(args[1])[0], file } : null);
        }
      });
    }
  }
  return found.filter(Boolean);
}

// The strings that an argument may be: a literal, or a choice of some.
function strings(n) {
  if (!n) return [];
  if (n.type === 'Literal' && typeof n.value === 'string') return [n.value];
  if (n.type === 'TemplateLiteral' && n.expressions.length === 0) return [n.quasis[0].value.cooked];
  if (n.type === 'ConditionalExpression') return [...strings(n.consequent), ...strings(n.alternate)];
  return [];
}

// What is not read: code, addresses, names of things that have no translation.
const names = /^(Rimewatch|Bearer|Slack|Microsoft Teams|Discord|Telegram|PagerDuty|ntfy|· Rimewatch|URL|UTC|E-mail|ChirpStack|The Things Stack|Shelly|Home Assistant|Zigbee2MQTT|Telegraf|Python|Node|Arduino \/ ESP32|WIF-0001|dBm|kB|MB|min|h|d|s|px|Edge|Opera|Samsung Internet|Firefox|Chrome|Safari|iOS|Android|Windows|macOS|ChromeOS|Linux|Cache-Control|Date|POST|CSV|PDF|en-GB|en-US|sv-SE|timeZone|Intl)$/;
const code = /^[a-z0-9_.:\/#?&={}%+-]*$|[{}<>\[\]=;\\]|\$\{|^\(|^:|:\/\/|^curl |^M[\d.]|confirm_loosening|reset-password|^[a-z]+[A-Z]\w*$|^(repeat|translate|max)\(|^input, |^px|^0 3px|minmax|(^| )(bg|text|border|[hwpm]|size|animate|opacity)-/;
const unread = /^(class|type|href|id|name|for|role|rel|data-.*|style|autocomplete|inputmode|d|fill|stroke|icon|kind|tone|size|base|src|viewBox|pattern.*|vector-effect|target|accept|aria-(live|busy|hidden|current|describedby|labelledby|pressed|expanded))$/;

/** untranslated returns what people would read in English whatever their language. */
export function untranslated(list = files().filter((f) => !/^(words\/tr|ui\/(Icon|tone)|pages\/wall\/tone)\b/.test(f))) {
  const found = [];
  for (const file of list) {
    for (const root of tree(file).roots) {
      visit(root, (n, above) => {
        if (/^(tr|plural)$/.test(called(n)) || /^(TS|Import)/.test(n.type) || /^(code|pre|kbd)$/.test(n.name)) return false;
        if (n.type === 'Attribute' && unread.test(n.name)) return false;
        const up = above.at(-1);
        if (/^(BinaryExpression|SwitchCase|MemberExpression)$/.test(up?.type) || (up?.type === 'Property' && up.key === n)) return;
        const s = (n.type === 'Text' ? n.data : n.type === 'TemplateElement' ? n.value.cooked : n.type === 'Literal' && typeof n.value === 'string' ? n.value : '').trim();
        // In a template every word is read; a literal is when it looks like a sentence.
        const read = n.type === 'Text' ? /[a-z]{2}/i.test(s) : /[A-Z][a-z]|[a-z]{2} [a-z]|^(and|of|to|by|at|in|from|until) /.test(s);
        if (read && !names.test(s) && !code.test(s)) found.push(`${file}: ${s}`);
      });
    }
  }
  return found;
}
