import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { startBuiltPrograms } from './scripts/build/start-built-programs.ts';
import { daemonIsBuilt } from './scripts/prepare.mjs';
import { reporters } from './scripts/testing/reporters.ts';

const suite = (...names: string[]) => names.map((name) => `daemon/test/${name}.test.ts`);

/** The HTTP surface that an untrusted client reaches: request targets, bodies, origins, hosts, cookies, upgrades, the limiter. */
const HTTP = suite(
  'bodies',
  'body-shapes',
  'cookies',
  'cors',
  'descriptor-limit',
  'frames',
  'limiter',
  'origin-host',
  'remote-admin',
  'response-headers',
  'route-classes',
  'targets.property',
  'upgrade*',
);

/** What clients of /v1 see, with the embedded engine and stand-ins. */
const INFERENCE = suite(
  'chat',
  'client-errors',
  'embeddings',
  'engine-headers',
  'foreign-*',
  'langchain',
  'messages*',
  'openai-*',
  'responses*',
  'streaming',
  'tools',
  'vercel-ai',
);

/** Audio and images, with real engines where they run here. */
const MEDIA = suite('images*', 'realtime*', 'speech', 'transcriptions', 'omni*');

/** Engines on every runner: loads, shutdown, faults and locations. */
const SLOTS = suite(
  'bench',
  'client-disconnect',
  'clock',
  'containers',
  'engine-stand-ins',
  'engines',
  'kv-cache',
  'loading-slots',
  'processes',
  'slot-lifecycle',
  'slot-plans',
  'slot-routes',
  'slot-sharing',
  'svcctl-records',
  'svcctl-slots',
  'swap*',
  'unload*',
);

/** Other gateways, clusters, providers and hubs. */
const UPSTREAMS = suite('pulls*', 'models-*', 'model-names', 'upstream*');

/** They compare tables and documents with the sources. `npm run check` runs them, and `npm test` by that. */
const BOOKKEEPING = ['asvs', 'cases', 'dependencies', 'docs', 'documents'].map(
  (name) => `scripts/${name}.test.ts`,
);

/** Programs that load models: the slowest of the unit tests. */
const WORKERS = ['daemon/slots/workers/**/*.test.ts', 'daemon/slots/runners/**/*.test.ts'];

/** How long `expect.poll` waits. The default of 1 s is too short for a busy machine. */
const POLL = { poll: { timeout: 20_000 } };

/** Modules hold no state, so files share them. One number of workers for all projects lets vitest run them in one pool. */
const shared = {
  isolate: false,
  maxWorkers: 3,
  expect: POLL,
  setupFiles: ['scripts/testing/configure-seed.ts'],
};
const unit = { testTimeout: 60_000, hookTimeout: 60_000, ...shared };
/** They start the built daemon, which is built first when a source has changed. */
const overPort = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  globalSetup: ['scripts/build/global-setup.mjs'],
  ...shared,
};
const root = import.meta.dirname;
/** A unit test starts built programs where the build is current. A watched run outlives its build and starts the sources. */
const isBuilt = process.env.VITEST_MODE !== 'WATCH' && daemonIsBuilt();
const built = () => ({ plugins: isBuilt ? [startBuiltPrograms(root, join(root, 'dist', 'daemon'))] : [] });
const group = (name: string, include: string[]) => ({ test: { name, include, ...overPort } });

/** Unit tests live beside their subject; suites over a real port live in daemon/test, in groups. Suites that need installed programs: e2e/system. */
export default defineConfig({
  test: {
    reporters: reporters(),
    projects: [
      {
        ...built(),
        test: {
          name: 'unit',
          include: ['daemon/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['daemon/test/**', 'node_modules/**', ...WORKERS, ...BOOKKEEPING],
          ...unit,
        },
      },
      { ...built(), test: { name: 'workers', include: WORKERS, ...unit } },
      { test: { name: 'bookkeeping', include: BOOKKEEPING, ...unit } },
      {
        test: {
          name: 'dashboard',
          include: ['dashboard/**/*.test.ts'],
          exclude: ['node_modules/**'],
          ...unit,
        },
      },
      group('http', HTTP),
      group('inference', INFERENCE),
      group('media', MEDIA),
      group('slots', SLOTS),
      group('upstreams', UPSTREAMS),
      {
        test: {
          name: 'spec',
          include: suite('*'),
          exclude: [...HTTP, ...INFERENCE, ...MEDIA, ...SLOTS, ...UPSTREAMS],
          ...overPort,
        },
      },
    ],
  },
});
