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
const run = spawnSync(node, [join(root, 'scripts', 'bench.ts'), ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
