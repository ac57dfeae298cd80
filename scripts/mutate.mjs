// Tests the core (scripts/mutate/core.ts) with the unit tests next to it: every branch must be reached, and
// nearly every mutant must fail a test. Arguments select files by a part of their name and skip the branch
// coverage. The full report is artifacts/mutation.json.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { provide } from './test-tools.mjs';

const { node } = prepare({ build: false });
const { SVC_TEST_STRYKER: stryker } = provide(['stryker']);
if (!stryker) process.exit(1);
const script = join(root, 'scripts', 'mutate', 'run.ts');
const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
const parts = process.argv.slice(2);
const run = (args) => spawnSync(node, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = join('scripts', 'mutate', 'vitest.config.ts');
const covered = parts.length > 0 ? 0 : run([vitest, 'run', '--config', config, '--coverage']);
process.exit(run([script, stryker, ...parts]) || covered);
