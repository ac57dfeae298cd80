#!/usr/bin/env node
// Plain JavaScript for Node 20: installs and builds what changed, then runs the gateway on the pinned Node 24.
import { spawn } from 'node:child_process';
import { prepare, root } from './prepare.mjs';

/** Started by hand: then SIGHUP says that the terminal is gone, and a gateway that goes on would do so unseen. */
const inTerminal = process.stdin.isTTY === true;
const passedOn = (signal) => (inTerminal && signal === 'SIGHUP' ? 'SIGTERM' : signal);

const { node } = prepare({ dashboard: true });
// Named before Node starts, so that not even the entry point has to have its types stripped again.
const env = { NODE_COMPILE_CACHE: `${root}/.cache/compile`, ...process.env };
const child = spawn(node, ['--max-semi-space-size=16', `${root}/daemon/main.ts`, ...process.argv.slice(2)], {
  env,
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(passedOn(signal)));
child.on('error', (error) => {
  console.error(`svc-gateway: cannot start ${node}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
