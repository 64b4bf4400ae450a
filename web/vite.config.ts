import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, minifySync, type Plugin } from 'vite';
import { ahead } from './scripts/ahead.mjs';
import { languages } from './scripts/languages.mjs';
import { licenses } from './scripts/licenses.mjs';
import { needed, source } from './scripts/texts.mjs';
import { worker } from './scripts/worker.mjs';

const out = '../internal/webui/dist';

// The binary serves files as they are, so they are compressed once, here. It makes the plain form from the compressed one for the rare
// program that takes no other.
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|svg|html|txt|webmanifest)$/.test(name)) continue;
        if (name === 'theme.js') writeFileSync(join(out, name), minifySync(name, readFileSync(join(out, name), 'utf8')).code);
        const plain = readFileSync(join(out, name));
        const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
        // Shorter blocks fit some scripts better.
        const [gz] = [6, 7, 8].map((memLevel) => gzipSync(plain, { level: 9, memLevel })).sort((a, b) => a.length - b.length) as [Buffer];
        if (br.length < plain.length) writeFileSync(join(out, `${name}.br`), br);
        if (gz.length < plain.length) {
          writeFileSync(join(out, `${name}.gz`), gz);
          if (name !== 'index.html') rmSync(join(out, name));
        }
      }
    },
  };
}

// Vite's own clean-up would remove the file that keeps the folder in git.
function emptied(): Plugin {
  return {
    name: 'emptied',
    apply: 'build',
    buildStart() {
      for (const name of readdirSync(out)) if (name !== '.keep') rmSync(join(out, name), { recursive: true });
    },
  };
}

const overview = needed('pages/overview/Overview.svelte');
// Its own parts, which the page of a site has too, are no business of other pages.
const shared = (id: string) => overview.has(relative(source, id)) && !relative(source, id).startsWith('pages/overview/');

const server = process.env.RIMEWATCH_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [emptied(), tailwindcss(), svelte(), languages(), worker(), ahead(), licenses(), compressed()],
  build: {
    outDir: out,
    emptyOutDir: false,
    target: 'es2023',
    // The content security policy allows no data: for scripts and fonts.
    assetsInlineLimit: 0,
    // The names of the parts of every page would be a kilobyte that the first page loads: the pages that somebody who is woken opens
    // have theirs loaded together, the others have theirs found on the way.
    modulePreload: { polyfill: false, resolveDependencies: (page, parts) => (/\b(Overview|Device|Alerts)-/.test(page) ? parts : parts.filter((p) => p.endsWith('.css'))) },
    reportCompressedSize: false,
    // What every page needs is one file and what the overview shares with others is another: they compress better than twenty.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'core', tags: ['$initial'] }, { name: 'units', test: shared, minShareCount: 2 }] } } },
  },
  server: { proxy: { '/api': { target: server, ws: true, changeOrigin: true } } },
});
