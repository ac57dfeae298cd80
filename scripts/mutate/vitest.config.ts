import { defineConfig } from 'vitest/config';
import { CORE } from './core.ts';

/** The unit tests beside the core, and nothing else: what they let pass, nobody else is asked to find. */
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
