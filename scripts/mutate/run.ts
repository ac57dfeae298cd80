// Runs mutants of the core against the unit tests next to it, with StrykerJS: `node run.ts STRYKER [part of a
// file name …]`.
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CORE } from './core.ts';

interface StrykerModule {
  Stryker: new (options: object) => { runMutationTest(): Promise<readonly unknown[]> };
}

const [program = '', ...parts] = process.argv.slice(2);
const mutate = CORE.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));
if (!existsSync(program) || mutate.length === 0) {
  console.error('usage: node scripts/mutate/run.ts STRYKER [part of a name of the core …]');
  process.exit(2);
}
const root = join(import.meta.dirname, '..', '..');
const artifacts = join(root, 'artifacts');
mkdirSync(artifacts, { recursive: true });
rmSync(join(artifacts, 'mutation.json'), { force: true });

/** The same few inputs for every mutant, so that the result is reproducible. */
Object.assign(process.env, { SVC_TEST_SEED: '1', SVC_TEST_SCALE: '1/5000' });

const core = join(dirname(realpathSync(program)), '..');
const { Stryker } = (await import(
  pathToFileURL(join(core, 'dist', 'src', 'index.js')).href
)) as StrykerModule;
await new Stryker({
  mutate,
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutate/vitest.config.ts' },
  coverageAnalysis: 'perTest',
  ignorePatterns: ['/.cache', '/.home', '/artifacts', '/dashboard', '/dist', '/docs', '/e2e', '/packaging'],
  // The current TypeScript compiler has no API with which Stryker could read a tsconfig. None is needed here.
  tsconfigFile: 'none',
  tempDirName: '.cache/stryker',
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: join(artifacts, 'mutation.json') },
  concurrency: Math.min(2, availableParallelism()),
  // A mutant that runs out of time counts as killed. The default of 5 s is reached by a busy machine alone.
  timeoutMS: 30_000,
  thresholds: { high: 95, low: 90, break: 90 },
}).runMutationTest();
