// One command for NVIDIA users: brings the CUDA binaries of the embedded engine (about 540 MB) into node_modules,
// which an ordinary install leaves out. `npm ci` removes them again; then run it once more.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root, stop } from './prepare.mjs';

prepare({ dashboard: false });
const modules = join(root, 'node_modules');
const { version } = JSON.parse(readFileSync(join(modules, 'node-llama-cpp', 'package.json'), 'utf8'));
if (process.platform !== 'linux' || process.arch !== 'x64')
  stop('The CUDA binaries are for Linux on x64.', 'Use Vulkan.');

const run = (command, args, cwd) => {
  const done = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (done.status !== 0)
    stop(`${command} ${args[0]} failed.`, 'Check the network and the disk, then try again.');
};
for (const name of ['linux-x64-cuda', 'linux-x64-cuda-ext']) {
  const scratch = mkdtempSync(join(modules, '.cuda-'));
  console.log(`Fetching @node-llama-cpp/${name} ${version} …`);
  run(
    'npm',
    ['pack', `@node-llama-cpp/${name}@${version}`, '--pack-destination', scratch, '--loglevel=error'],
    root,
  );
  run('tar', ['-xzf', readdirSync(scratch).find((file) => file.endsWith('.tgz')) ?? ''], scratch);
  const place = join(modules, '@node-llama-cpp', name);
  mkdirSync(join(modules, '@node-llama-cpp'), { recursive: true });
  rmSync(place, { recursive: true, force: true });
  renameSync(join(scratch, 'package'), place);
  rmSync(scratch, { recursive: true, force: true });
}
console.log(
  'Done. The next start uses CUDA where a device is found; GET /api/slots names the backend in use.',
);
