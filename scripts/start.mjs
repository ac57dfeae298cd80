#!/usr/bin/env node
// Plain JavaScript for Node 20: installs and builds what changed, then runs the gateway on the pinned Node 24.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { prepare, root } from './prepare.mjs';

const inTerminal = process.stdin.isTTY === true;

/** Whether the terminal of this process was closed. */
function isTerminalClosed() {
  if (!inTerminal) return false;
  try {
    closeSync(openSync('/dev/tty'));
    return false;
  } catch {
    return true;
  }
}

/** Maps SIGHUP to SIGTERM when the terminal was closed. A reload would leave the gateway running in the background. */
const forwarded = (signal) => (signal === 'SIGHUP' && isTerminalClosed() ? 'SIGTERM' : signal);

const { node } = prepare({ build: true });
// Set before Node starts, so that the entry point is cached too.
const env = { NODE_COMPILE_CACHE: `${root}/.cache/compile`, ...process.env };
const child = spawn(
  node,
  ['--max-semi-space-size=8', `${root}/dist/daemon/main.js`, ...process.argv.slice(2)],
  {
    env,
    stdio: 'inherit',
  },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(forwarded(signal)));
child.on('error', (error) => {
  console.error(`svc-gateway: cannot start ${node}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
