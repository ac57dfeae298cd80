import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { FolderIdentities } from './folder-identities.ts';
import { scanFolders } from './scan.ts';

function bench() {
  const root = scratch();
  const [folder, other] = [join(root, 'models'), join(root, 'other')];
  for (const each of [folder, other]) {
    mkdirSync(each);
    writeFileSync(join(each, 'a.gguf'), 'GGUF');
  }
  const identities = new FolderIdentities();
  const isAway = async () => {
    identities.update(await scanFolders([folder, other]));
    expect(identities.isAway(join(other, 'a.gguf'))).toBe(false);
    return identities.isAway(join(folder, 'a.gguf'));
  };
  return { root, folder, isAway };
}

test('a deleted file does not make its folder away', async () => {
  const { folder, isAway } = bench();
  expect(await isAway()).toBe(false);
  rmSync(join(folder, 'a.gguf'));
  expect([await isAway(), await isAway()]).toEqual([false, false]);
});

test('an absent folder, and an empty mount point, are away until the disk is back', async () => {
  const { root, folder, isAway } = bench();
  expect(await isAway()).toBe(false);
  renameSync(folder, join(root, 'disk'));
  expect([await isAway(), await isAway()]).toEqual([true, true]);
  mkdirSync(folder);
  expect([await isAway(), await isAway()]).toEqual([true, true]);
  rmSync(folder, { recursive: true });
  renameSync(join(root, 'disk'), folder);
  expect([await isAway(), await isAway()]).toEqual([false, false]);
});

test('another folder with models takes over after one scan', async () => {
  const { root, folder, isAway } = bench();
  expect(await isAway()).toBe(false);
  renameSync(folder, join(root, 'disk'));
  mkdirSync(folder);
  writeFileSync(join(folder, 'b.gguf'), 'GGUF');
  expect([await isAway(), await isAway()]).toEqual([true, false]);
});
