// Plain JavaScript for Node 20: installs and builds what changed, then builds the packages on the pinned Node 24.
import { spawnSync } from 'node:child_process';
import { prepare, root } from './prepare.mjs';

const { node } = prepare({ build: true });
const args = ['--disable-warning=ExperimentalWarning', `${root}/scripts/package/main.ts`];
const run = spawnSync(node, [...args, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(run.status ?? 1);
