import { defineConfig } from 'vitest/config';
import { patience } from './patience.ts';

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
    bail: 0,
  },
});
