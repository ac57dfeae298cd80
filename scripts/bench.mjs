// Plain JavaScript for Node 20: brings the checkout into a runnable state, finds or gets the programs that the bench compares
// with, and runs it on the pinned Node 24.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { provide } from './test-tools.mjs';

const { node } = prepare({ build: true });
const env = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  ...provide(['nginx', 'llama.cpp', 'wrk']),
};
const run = spawnSync(node, [join(root, 'scripts', 'bench.ts'), ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
