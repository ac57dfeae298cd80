// Adds the CUDA binaries of the embedded engine to node_modules; an ordinary install omits them. `npm ci`
// removes them again.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

prepare({ build: false });
const script = join(root, 'packaging', 'cuda.sh');
process.exit(spawnSync('sh', [script, root], { stdio: 'inherit' }).status ?? 1);
