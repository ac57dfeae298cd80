import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../lib/testing/scratch.ts';
import { bytesOf, fileName, freeBytesForModels } from './disk-space.ts';

let state: string;
beforeEach(() => {
  state = scratch();
});

test('a file that several pulls need takes its room once', () => {
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

test('the room for downloads is that of the disk which holds the models', async () => {
  // The one file system of every Linux that says exactly how much room it has: none.
  symlinkSync('/proc', join(state, 'models'));
  expect(await freeBytesForModels(state)).toBe(0);
});

test('before the first download it is that of the disk which holds the state', async () => {
  expect(await freeBytesForModels(state)).toBeGreaterThan(0);
  mkdirSync(join(state, 'models'));
  expect(await freeBytesForModels(state)).toBeGreaterThan(0);
});

test('a folder that is out of reach is told, not taken for another one', async () => {
  await expect(freeBytesForModels(join(state, 'none'))).rejects.toThrow('ENOENT');
});
