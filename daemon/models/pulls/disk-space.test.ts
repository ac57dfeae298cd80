import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { bytesOf, fileName, freeBytesForModels } from './disk-space.ts';

let state: string;
beforeEach(() => {
  state = scratch();
});

test('counts a file that several pulls need once', () => {
  const [a, b] = ['1', '2'].map((sha256) => fileName('me/m', { path: 'x', sha256, blob: null })) as [
    string,
    string,
  ];
  expect(
    bytesOf([
      { name: a, bytes: 40 },
      { name: b, bytes: 5 },
      { name: a, bytes: 10 },
    ]),
  ).toBe(15);
});

test('the space for downloads is that of the disk with the models', async () => {
  // The one file system of every Linux with a known amount of free space: none.
  symlinkSync('/proc', join(state, 'models'));
  expect(await freeBytesForModels(state)).toBe(0);
});

test('before the first download it is that of the disk with the state', async () => {
  expect(await freeBytesForModels(state)).toBeGreaterThan(0);
  mkdirSync(join(state, 'models'));
  expect(await freeBytesForModels(state)).toBeGreaterThan(0);
});

test('an unreachable folder is reported, not replaced by another', async () => {
  await expect(freeBytesForModels(join(state, 'none'))).rejects.toThrow('ENOENT');
});
