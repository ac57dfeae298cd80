import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { startBuiltPrograms } from './scripts/build/started.ts';
import { daemonIsBuilt } from './scripts/prepare.mjs';
import { reporters } from './scripts/testing/reporters.ts';

const suite = (...names: string[]) => names.map((name) => `daemon/test/${name}.test.ts`);

/** What a stranger at the door may try: request targets, bodies, origins, hosts, cookies, upgrades, the limiter. */
const DOOR = suite(
  'answer-headers',
  'bodies',
  'body-shapes',
  'classes',
  'cookies',
  'cors',
  'frames',
  'limiter',
  'no-descriptor',
  'origin-host',
  'remote-admin',
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

/** Sound and pictures, with real engines where they run here. */
const MEDIA = suite('images*', 'realtime*', 'speech', 'transcriptions', 'omni*');

/** Engines on every runner: their loads, ends, faults and places. */
const SLOTS = suite(
  'clock',
  'containers',
  'engine-stand-ins',
  'engines',
  'leaving',
  'loads',
  'processes',
  'slot-life',
  'slot-plans',
  'slot-routes',
  'svcctl-records',
  'svcctl-slots',
  'swap*',
);

/** Other gateways, clusters, providers and hubs. */
const ELSEWHERE = suite('outgoing', 'pulls*', 'models-*', 'upstream*');

/** They compare tables and documents with the sources. `npm run check` runs them, and `npm test` by that. */
const BOOKKEEPING = ['asvs', 'cases', 'dependencies', 'docs', 'documents'].map(
  (name) => `scripts/${name}.test.ts`,
);

/** Programs that load models: the slowest of the unit tests. */
const WORKERS = ['daemon/slots/workers/**/*.test.ts', 'daemon/slots/runners/**/*.test.ts'];

/** Modules hold no state, so files share them. One number of workers for all projects lets vitest run them in one pool. */
const shared = { isolate: false, maxWorkers: 4 };
const unit = { testTimeout: 30_000, hookTimeout: 30_000, ...shared };
/** They start the built daemon, which is built first when a source has changed. */
const overPort = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  globalSetup: ['scripts/build/fresh.mjs'],
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
      group('door', DOOR),
      group('inference', INFERENCE),
      group('media', MEDIA),
      group('slots', SLOTS),
      group('elsewhere', ELSEWHERE),
      {
        test: {
          name: 'spec',
          include: suite('*'),
          exclude: [...DOOR, ...INFERENCE, ...MEDIA, ...SLOTS, ...ELSEWHERE],
          ...overPort,
        },
      },
    ],
  },
});
