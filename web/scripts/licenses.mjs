// What the program is made of and by which licence: the Go modules that it is linked of, and the packages in the UI. The server serves
// the text as /licenses.txt, packages carry it, and the release's bill of materials is made from its list.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(root, 'web/node_modules');

/** licenses is a plugin that writes licenses.txt. A component without a licence, or by one that it does not know, fails the build. */
export function licenses() {
  return {
    name: 'licenses',
    apply: 'build',
    generateBundle(_, bundle) {
      const parts = [...goModules(), ...uiPackages(bundle)].map((c) => ({ ...c, texts: textsOf(c.dir) }));
      for (const c of parts) c.license = c.texts.length ? kind(c.texts[0]) : undefined;
      const bad = parts.filter((c) => !c.license);
      if (bad.length) throw new Error(`no licence that is known: ${bad.map((c) => `${c.name} (${c.dir})`).join(', ')}`);
      parts.sort((a, b) => (a.name < b.name ? -1 : 1));
      const same = new Map();
      for (const c of parts) for (const text of c.texts) same.set(text, [...(same.get(text) ?? []), c.name]);
      const source = [
        'Rimewatch is made of its own source, under the Apache License 2.0, and of these components:\n',
        ...parts.map((c) => `  ${c.kind} ${c.name} ${c.version} (${c.license})`),
        ...[...same].map(([text, names]) => `\n${'='.repeat(80)}\n${names.join('\n')}\n${'-'.repeat(80)}\n${text}`),
      ].join('\n');
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: source + '\n' });
    },
  };
}

function go(...args) {
  return execFileSync('go', args, { cwd: root, encoding: 'utf8', env: { ...process.env, CGO_ENABLED: '0' } }).trim();
}

function goModules() {
  const lines = new Set(go('list', '-deps', '-f', '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}', './cmd/rimewatch').split('\n').filter(Boolean));
  const [version, dir] = go('env', 'GOVERSION', 'GOROOT').split('\n');
  return [
    { kind: 'go', name: 'std', version: version.replace(/^go/, '').split(' ')[0], dir },
    ...[...lines].map((line) => {
      const [name, version, ...dir] = line.split(' ');
      return { kind: 'go', name, version, dir: dir.join(' ') };
    }),
  ];
}

// What the bundler has put in, and what style sheets name, which it does not say.
function uiPackages(bundle) {
  const dirs = new Set();
  const add = (id) => {
    const at = id.lastIndexOf('/node_modules/');
    if (at < 0) return;
    const [first, second] = id.slice(at + 14).split('/');
    dirs.add(join(id.slice(0, at), 'node_modules', first.startsWith('@') ? join(first, second) : first));
  };
  for (const c of Object.values(bundle)) for (const id of Object.keys(c.modules ?? {})) add(id.replace(/^\0/, ''));
  const src = join(root, 'web/src');
  for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.css')) continue;
    for (const [, id] of readFileSync(join(src, name), 'utf8').matchAll(/@(?:import|plugin)\s+['"]([@\w][^'"]*)/g)) if (existsSync(join(modules, id.split('/')[0]))) add(join(modules, id));
  }
  return [...dirs].map((dir) => {
    const { name, version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    return { kind: 'npm', name, version, dir };
  });
}

// A module may lie within a repository that has the licence at its top.
function textsOf(dir) {
  for (let at = dir; at.length > 1 && basename(at) !== 'node_modules' && basename(at) !== 'mod'; at = dirname(at)) {
    const names = readdirSync(at).filter((n) => /^(licen[sc]e|copying|notice|unlicense)([._-].*)?$/i.test(n) && !/\.(go|js|ts)$/.test(n)).sort();
    if (names.length) return names.map((n) => readFileSync(join(at, n), 'utf8').replace(/\r\n/g, '\n').trim());
  }
  return [];
}

const kinds = [
  ['Apache-2.0', /Apache License\s+Version 2\.0/],
  ['OFL-1.1', /SIL OPEN FONT LICENSE/i],
  ['MPL-2.0', /Mozilla Public License,? (Version|v\.) ?2\.0/i],
  ['MIT', /Permission is hereby granted, free\s+of charge/],
  ['ISC', /Permission to use, copy, modify, and(\/or)? distribute this software/],
  ['BSD-3-Clause', /Redistribution and use in source and binary forms[\s\S]*(Neither the name|may not be used to\s+endorse|names? of (its|the) contributors)/],
  ['BSD-2-Clause', /Redistribution and use in source and binary forms/],
  ['Unlicense', /This is free and unencumbered software/],
  ['CC0-1.0', /CC0 1\.0 Universal/],
];

function kind(text) {
  return kinds.find(([, like]) => like.test(text))?.[0];
}
