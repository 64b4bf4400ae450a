// The service worker knows by name what belongs to the UI: it is written when all names are known.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const fixed = ['/theme.js', '/icon.svg', '/icon-192.png', '/app.webmanifest'];

/** worker is a plugin that writes sw.js. Of the fonts only the Latin one is loaded beforehand. */
export function worker() {
  return {
    name: 'worker',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      const assets = Object.keys(bundle).filter((n) => /\.(js|css)$/.test(n) || /inter-latin-wght-normal.*\.woff2$/.test(n));
      const files = ['/', ...fixed, ...assets.map((n) => '/' + n).sort()];
      const hash = createHash('sha256').update(JSON.stringify(files));
      for (const f of fixed) hash.update(readFileSync(join(root, 'public', f)));
      const source = readFileSync(join(root, 'src/worker.js'), 'utf8').replace('__SHELL__', () => JSON.stringify({ version: hash.digest('hex').slice(0, 12), files }));
      this.emitFile({ type: 'asset', fileName: 'sw.js', source });
    },
  };
}
