import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { startTicksOf } from './kit/process-identity.ts';
import { scratch } from './kit/testing/scratch.ts';
import { holderOf, lockState } from './state-lock.ts';

let folder: string;
const path = () => join(folder, 'gateway.pid');
beforeEach(() => {
  folder = scratch();
});

it('takes a free folder and gives it free', async () => {
  const free = await lockState(folder);
  expect(existsSync(path())).toBe(true);
  free();
  expect(existsSync(path())).toBe(false);
});

it('refuses while another live process holds it, and names it', async () => {
  writeFileSync(path(), `${process.ppid} ${startTicksOf(process.ppid)}\n`);
  await expect(lockState(folder)).rejects.toMatchObject({
    message: expect.stringContaining(`process ${process.ppid}`),
    advice: expect.stringContaining('SVC_HOME'),
  });
});

it.each([
  ['a process that is gone', '4194303 1\n'],
  ['a number that another process has now', `${process.ppid} 1\n`],
  ['garbage', 'what?'],
  ['nothing', ''],
])('sees through a claim of %s', async (_name, text) => {
  writeFileSync(path(), text);
  const free = await lockState(folder);
  expect(holderOf(`${process.pid} ${startTicksOf(process.pid)}\n`)).toBe(process.pid);
  free();
});

it('refuses while a process that it cannot see holds it', async () => {
  const free = await lockState(folder);
  writeFileSync(path(), '4194303 1\n');
  await expect(lockState(folder)).rejects.toMatchObject({
    message: `Another gateway (in another container) works on ${folder}.`,
    advice: expect.stringContaining('SVC_HOME'),
  });
  free();
  (await lockState(folder))();
});

it('a killed holder leaves nothing that blocks the next start', { timeout: 30_000 }, async () => {
  const file = join(import.meta.dirname, 'state-lock.ts');
  const script = `const { lockState } = await import(process.argv[1]);
    globalThis.free = await lockState(process.argv[2]);
    console.log('held');
    setInterval(() => {}, 1000);`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, file, folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  await expect(lockState(folder)).rejects.toMatchObject({
    message: `Another gateway (process ${child.pid}) works on ${folder}.`,
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  (await lockState(folder))();
  expect(existsSync(path())).toBe(false);
});
