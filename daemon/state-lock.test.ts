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
