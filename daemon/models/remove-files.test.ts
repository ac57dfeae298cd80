import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import type { RegisteredModel } from './registered-model.ts';
import { removeFiles } from './remove-files.ts';

let home: string;
let root: string;
beforeEach(() => {
  home = scratch();
  root = join(home, 'models');
  mkdirSync(join(root, 'owner', 'name'), { recursive: true });
});

const put = (path: string): string => {
  writeFileSync(path, 'x');
  return path;
};
const model = (change: Partial<RegisteredModel>): RegisteredModel =>
  ({ source: 'pull', projectorPath: null, ...change, path: change.files?.[0] ?? '' }) as RegisteredModel;

test('removes all parts and empty folders', async () => {
  const files = [1, 2].map((part) => put(join(root, 'owner', 'name', `m-0000${part}-of-00002.gguf`)));
  expect(await removeFiles(root, model({ files }), [])).toBe(2);
  expect(existsSync(join(root, 'owner'))).toBe(false);
  expect(existsSync(root)).toBe(true);
});

test('keeps what another model needs', async () => {
  const [one, two, projector] = ['a.gguf', 'b.gguf', 'mmproj.gguf'].map((name) =>
    put(join(root, 'owner', 'name', name)),
  ) as [string, string, string];
  const other = model({ files: [two], projectorPath: projector });
  expect(await removeFiles(root, model({ files: [one], projectorPath: projector }), [other])).toBe(1);
  expect([existsSync(one), existsSync(two), existsSync(projector)]).toEqual([false, true, true]);
  expect(await removeFiles(root, other, [])).toBe(2);
});

test('removes a folder as a whole, unless it contains another model', async () => {
  const folder = join(root, 'owner', 'name');
  const inner = put(join(folder, 'x.gguf'));
  await expect(
    removeFiles(root, model({ files: [folder] }), [model({ files: [inner] })]),
  ).rejects.toMatchObject({
    code: 'model.kept',
  });
  expect(existsSync(inner)).toBe(true);
  expect(await removeFiles(root, model({ files: [folder] }), [])).toBe(1);
  expect(existsSync(folder)).toBe(false);
});

test.each(['scan', 'demo', 'program', 'register'] as const)(
  'does not remove files of source %s',
  async (source) => {
    const path = put(join(root, 'owner', 'name', 'x.gguf'));
    await expect(removeFiles(root, model({ source, files: [path] }), [])).rejects.toMatchObject({
      code: 'model.kept',
    });
    expect(existsSync(path)).toBe(true);
  },
);

test('removes nothing outside, behind a link, or the models folder itself', async () => {
  const outside = join(home, 'outside');
  mkdirSync(outside);
  const outsideFile = put(join(outside, 'x.gguf'));
  symlinkSync(outside, join(root, 'linked'));
  symlinkSync(outsideFile, join(root, 'owner', 'link.gguf'));
  const tries = [
    outsideFile,
    join(root, 'linked', 'x.gguf'),
    join(root, 'owner', 'link.gguf'),
    root,
    join(root, 'loose'),
  ];
  put(join(root, 'loose'));
  for (const path of tries)
    await expect(removeFiles(root, model({ files: [path] }), [])).rejects.toMatchObject({
      code: 'model.kept',
    });
  expect(tries.every((path) => existsSync(path))).toBe(true);
  expect(await removeFiles(root, model({ files: [join(root, 'owner', 'gone.gguf')] }), [])).toBe(1);
});
