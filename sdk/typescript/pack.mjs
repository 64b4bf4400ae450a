// Writes a package for npm: node pack.mjs VERSION DIRECTORY.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const [version, out] = [process.argv[2], resolve(process.argv[3])];
const copy = mkdtempSync(join(tmpdir(), 'rimewatch-npm-'));
try {
  for (const name of ['dist', 'README.md']) cpSync(join(here, name), join(copy, name), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  // What is no release has no version that npm would take.
  manifest.version = /^v\d+\.\d+\.\d+$/.test(version) ? version.slice(1) : '0.0.0-dev';
  writeFileSync(join(copy, 'package.json'), JSON.stringify(manifest, null, 2));
  mkdirSync(out, { recursive: true });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', out], { cwd: copy });
} finally {
  rmSync(copy, { recursive: true });
}
