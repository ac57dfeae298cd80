import { defineConfig } from 'vitest/config';

const suite = (...names: string[]) => names.map((name) => `daemon/test/${name}.test.ts`);

/** What a stranger at the door may try: request targets, bodies, origins, hosts, cookies, upgrades, the limiter. */
const DOOR = suite(
  'answer-headers',
  'bodies',
  'body-shapes',
  'classes',
  'cookies',
  'cors',
  'limiter',
  'origin-host',
  'realtime-door',
  'remote-admin',
  'targets.property',
  'upgrades',
);

/** What clients of /v1 see, with real engines. */
const INFERENCE = suite(
  'chat',
  'embeddings',
  'engine-headers',
  'llama-server-beside',
  'langchain',
  'openai-client',
  'openai-features',
  'openai-retries',
  'openai-schemas',
  'realtime',
  'slot-life',
  'speech',
  'storm',
  'streaming',
  'tools',
  'transcriptions',
  'vercel-ai',
);

const overPort = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 2 };

/** Unit tests live beside their subject; suites over a real port live in daemon/test, in three groups. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['daemon/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['daemon/test/**', 'node_modules/**'],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: 2,
        },
      },
      { test: { name: 'dashboard', include: ['dashboard/**/*.test.ts'], exclude: ['node_modules/**'] } },
      { test: { name: 'door', include: DOOR, ...overPort } },
      { test: { name: 'inference', include: INFERENCE, ...overPort } },
      { test: { name: 'spec', include: suite('*'), exclude: [...DOOR, ...INFERENCE], ...overPort } },
    ],
  },
});
