// Daemon and dashboard with reload: `node --watch` restarts the daemon, Vite serves the dashboard in front of it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

const { node } = prepare({ build: false });
const start = (args) => spawn(node, args, { cwd: root, stdio: 'inherit' });
const children = [
  start([
    '--watch',
    '--watch-path',
    join(root, 'daemon'),
    join(root, 'daemon', 'main.ts'),
    ...process.argv.slice(2),
  ]),
  start([
    join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
    '--config',
    join(root, 'dashboard', 'vite.config.ts'),
  ]),
];
const stop = () => {
  for (const child of children) child.kill('SIGTERM');
};
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
for (const child of children) child.on('exit', stop);
