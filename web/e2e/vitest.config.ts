import { defineConfig } from 'vitest/config';

// One browser at a time: the machine is shared with the server under test.
export default defineConfig({
  test: { include: ['e2e/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 30_000, fileParallelism: false, bail: 0 },
});
