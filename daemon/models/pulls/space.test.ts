import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { roomForModels } from './space.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'svc-space-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

test('the room for downloads is that of the disk which holds the models', async () => {
  // The one file system of every Linux that says exactly how much room it has: none.
  symlinkSync('/proc', join(state, 'models'));
  expect(await roomForModels(state)).toBe(0);
});

test('before the first download it is that of the disk which holds the state', async () => {
  expect(await roomForModels(state)).toBeGreaterThan(0);
  mkdirSync(join(state, 'models'));
  expect(await roomForModels(state)).toBeGreaterThan(0);
});

test('a folder that is out of reach is told, not taken for another one', async () => {
  await expect(roomForModels(join(state, 'none'))).rejects.toThrow('ENOENT');
});
