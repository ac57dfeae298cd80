// Plain JavaScript for Node 20: prepares the checkout, finds or installs the programs to compare with, and runs the bench on
// the pinned Node 24.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { provide } from './test-tools.mjs';

const { node } = prepare({ build: true });
const env = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  ...provide(['nginx', 'wrk']),
};
/** Rows on real models: suites of `npm run test:system` that print their figures. */
const MODEL_ROWS = ['saved-conversation', 'ngram-speed'].map((name) => `e2e/system/engines/${name}.test.ts`);
if (process.argv.includes('--models')) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', 'e2e/system/vitest.config.ts', ...MODEL_ROWS];
  const rows = { ...env, ...provide(['llama.cpp']), SVC_TEST_WITH: 'models' };
  process.exit(spawnSync(node, args, { cwd: root, env: rows, stdio: 'inherit' }).status ?? 1);
}
const run = spawnSync(node, [join(root, 'scripts', 'bench.ts'), ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
