// One command for NVIDIA users: brings the CUDA binaries of the embedded engine into node_modules, which an ordinary install
// leaves out. `npm ci` removes them again; then run it once more.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

prepare({ build: false });
const script = join(root, 'packaging', 'cuda.sh');
process.exit(spawnSync('sh', [script, root], { stdio: 'inherit' }).status ?? 1);
