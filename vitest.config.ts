import { defineConfig } from 'vitest/config';

/** Unit tests live beside their subject; suites over a real port live in daemon/test. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['daemon/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['daemon/test/**', 'node_modules/**'],
          testTimeout: 15_000,
        },
      },
      {
        test: {
          name: 'spec',
          include: ['daemon/test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: true,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'dashboard',
          include: ['dashboard/**/*.test.ts'],
          exclude: ['node_modules/**'],
        },
      },
    ],
  },
});
