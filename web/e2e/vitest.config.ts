import { defineConfig } from 'vitest/config';
import { patience } from './patience.ts';

// One browser at a time: the machine is shared with the server under test. The
// limits only end a test that hangs: a busy machine may take many times as long.
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    testTimeout: 3 * patience,
    hookTimeout: 3 * patience,
    expect: { poll: { timeout: patience, interval: 50 } },
    fileParallelism: false,
    bail: 0,
  },
});
