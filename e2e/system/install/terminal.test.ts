/** `npm start` and its signals: in a terminal of script(1) that is closed, and without a terminal. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../daemon/test/harness/gateway.ts';

const scripts = join(import.meta.dirname, '..', '..', '..', 'scripts');
const terminals = spawnSync('script', ['--version']).status === 0;
if (!terminals) console.warn('SKIPPED, there is no script(1) of util-linux here: npm start in a terminal');

/** STAND-IN for the gateway: logs its signals, and ends on the signal that ends the real one. */
const GATEWAY = `
import { appendFileSync } from 'node:fs';
const log = new URL('../../signals', import.meta.url);
const record = (word) => appendFileSync(log, word + '\\n');
process.on('SIGHUP', () => record('SIGHUP'));
process.on('SIGTERM', () => { record('SIGTERM'); process.exit(); });
setInterval(() => {}, 1000);
record(String(process.pid));
`;
const PREPARED = `
export const root = ${JSON.stringify('ROOT')};
export const prepare = () => ({ node: process.execPath });
`;

let root: string;
let started: ChildProcess;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-start-'));
  for (const folder of ['scripts', 'dist/daemon']) mkdirSync(join(root, folder), { recursive: true });
  cpSync(join(scripts, 'start.mjs'), join(root, 'scripts', 'start.mjs'));
  writeFileSync(join(root, 'scripts', 'prepare.mjs'), PREPARED.replace('ROOT', root));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeFileSync(join(root, 'dist', 'daemon', 'main.js'), GATEWAY);
});
afterEach(() => {
  started.kill('SIGKILL');
  const pid = Number(output()[0]);
  if (pid > 0 && existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

/** Returns the pid of the gateway and its received signals. */
const output = (): string[] => {
  const file = join(root, 'signals');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
const running = () => until(() => output().length > 0, 'the gateway to start');

it.skipIf(!terminals)('the gateway stops when its terminal is closed', async () => {
  const line = `'${process.execPath}' '${join(root, 'scripts', 'start.mjs')}'`;
  started = spawn('script', ['-qec', line, '/dev/null'], { env: { ...process.env, SHELL: '/bin/sh' } });
  await running();
  started.kill('SIGKILL');
  await until(() => output().includes('SIGTERM'), 'the gateway to be stopped');
});

it('without a terminal SIGHUP is forwarded and reloads', async () => {
  started = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], { stdio: 'ignore' });
  await running();
  started.kill('SIGHUP');
  await until(() => output().includes('SIGHUP'), 'the gateway to reload');
  started.kill('SIGTERM');
  await until(() => output().includes('SIGTERM'), 'the gateway to be stopped');
  expect(output().slice(1)).toEqual(['SIGHUP', 'SIGTERM']);
});
