import { defineConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';
import { patience } from './patience.ts';

// What failed, a line each, after everything else: the end of a log is what is kept of it.
const lastWord: Reporter = {
  onTestRunEnd(files, unhandled) {
    const line = (where: string, e: { message: string }) => console.log(`failed: ${where}: ${e.message.split('\n', 1)[0]!.slice(0, 400)}`);
    for (const f of files) {
      for (const e of f.errors()) line(f.relativeModuleId, e);
      for (const suite of f.children.allSuites()) for (const e of suite.errors()) line(`${f.relativeModuleId} ${suite.fullName}`, e);
      for (const t of f.children.allTests('failed')) for (const e of t.result().errors ?? []) line(`${f.relativeModuleId} ${t.fullName}`, e);
    }
    for (const e of unhandled) line('outside a test', e);
  },
};

// Two files at a time, each with a browser and a server of its own: one waits as
// much as it computes. The limits only end a test that hangs: a busy machine may
// take many times as long.
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    testTimeout: 3 * patience,
    hookTimeout: 3 * patience,
    expect: { poll: { timeout: patience, interval: 50 } },
    maxWorkers: 2,
    isolate: false, // a file has what it needs in its own variables: Playwright is read once a worker
    bail: 0,
    reporters: ['default', lastWord],
  },
});
