import { defineConfig } from 'vitest/config';
import { CORE } from './core.ts';

/** The unit tests next to the core, and no others: they must find every mutant on their own. */
export default defineConfig({
  test: {
    include: CORE.map((file) => file.replace(/\.ts$/, '.test.ts')),
    testTimeout: 30_000,
    coverage: {
      provider: 'v8',
      include: [...CORE],
      reporter: ['text'],
      reportsDirectory: 'artifacts/coverage',
      thresholds: { perFile: true, branches: 100 },
    },
  },
});
