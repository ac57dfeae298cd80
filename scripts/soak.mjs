// Runs a mixed load for an hour and writes a report and a graph (artifacts/soak.json, soak.svg), then runs the suites with the
// full repeat counts of the catalogue and the mutants of the core, which takes hours. `--minutes N` runs the load alone for N
// minutes. A plain argument is the scale of the repeats (default 1).
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { provide } from './test-tools.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--minutes');
const minutes = at < 0 ? null : Number(args.splice(at, 2)[1]);
if ((minutes !== null && !(minutes > 0)) || args.length > 1) {
  console.error('usage: npm run soak -- [--minutes N | SCALE]');
  process.exit(2);
}

const { node } = prepare({ build: true });
const env = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  SVC_TEST_SCALE: args[0] ?? '1',
};
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const HOUR = 60;

const run = (program, more = {}) =>
  spawnSync(node, program, { cwd: root, env: { ...env, ...more }, stdio: 'inherit' }).status ?? 1;
const suites = (files, more) =>
  run([vitest, 'run', '--testTimeout=86400000', '--hookTimeout=600000', ...files], more);

const SYSTEM = ['--config', 'e2e/system/vitest.config.ts'];
const SOAK = 'e2e/system/faults/soak.test.ts';

const loaded = suites([...SYSTEM, SOAK], { SVC_SOAK_MINUTES: String(minutes ?? HOUR) });
const drawn = run([join(root, 'scripts', 'soak-graph.ts')]);
const all = minutes === null ? suites([], {}) : 0;
const system = minutes === null ? suites([...SYSTEM, '--exclude', SOAK], provide()) : 0;
const mutated = minutes === null ? run([join(root, 'scripts', 'mutate.mjs')]) : 0;
process.exit(loaded || drawn || all || system || mutated);
