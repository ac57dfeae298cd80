import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { publishAddress } from './publish-address.ts';
import { addressFile, runningAddress } from './running-address.ts';

const fail = (reason: string) => {
  throw new Error(reason);
};

it('has the address while the process runs, readable by its owner only', async () => {
  const folder = scratch();
  const unpublish = await publishAddress(folder, { host: '::1', port: 9000 }, fail);
  expect(runningAddress(folder)).toEqual({ host: '::1', port: 9000 });
  expect(statSync(addressFile(folder)).mode & 0o777).toBe(0o600);
  unpublish();
  expect(runningAddress(folder)).toBeNull();
});

it('does not remove the file of a later gateway', async () => {
  const folder = scratch();
  const unpublish = await publishAddress(folder, { host: '127.0.0.1', port: 1 }, fail);
  await publishAddress(folder, { host: '127.0.0.1', port: 2 }, fail);
  unpublish();
  expect(runningAddress(folder)?.port).toBe(2);
});

it.each([
  ['of a process that ended', '4194304 1\n127.0.0.1 8080\n'],
  ['of a reassigned pid', `${process.pid} 1\n127.0.0.1 8080\n`],
  ['that is incomplete', `${process.pid}`],
  ['that is empty', ''],
])('ignores a file %s', (_, text) => {
  const folder = scratch();
  writeFileSync(addressFile(folder), text);
  expect(runningAddress(folder)).toBeNull();
});

it('reports a folder that takes no file', async () => {
  const folder = scratch();
  mkdirSync(addressFile(folder));
  const reasons: string[] = [];
  const unpublish = await publishAddress(folder, { host: '::1', port: 1 }, (reason) => reasons.push(reason));
  expect(reasons).toHaveLength(1);
  unpublish();
  expect(runningAddress(join(folder, 'absent'))).toBeNull();
});
