import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { SCAN_LIMITS, scanFolders } from './scan.ts';

let folder: string;
beforeEach(() => {
  folder = scratch();
});

function put(...names: string[]) {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), 'x'.repeat(10));
  }
}
const found = async (limits = SCAN_LIMITS) =>
  (await scanFolders([folder], limits)).files.map(({ path }) => relative(folder, path));

test('finds model files in sub-folders, without hidden ones', async () => {
  put('b.gguf', 'a/deep/c.GGUF', 'notes.txt', '.hidden.gguf', '.cache/d.gguf');
  expect(await found()).toEqual(['a/deep/c.GGUF', 'b.gguf']);
});

test('a split model is one, with the bytes of all parts and the time of the first', async () => {
  put('m-00001-of-00002.gguf', 'm-00002-of-00002.gguf');
  utimesSync(join(folder, 'm-00001-of-00002.gguf'), 1000, 1234);
  expect((await scanFolders([folder])).files).toEqual([
    { path: join(folder, 'm-00001-of-00002.gguf'), sizeBytes: 20, mtimeS: 1234, ctimeMs: expect.any(Number) },
  ]);
});

test('follows links, without loops and duplicates', async () => {
  put('blobs/data', 'snapshots/one/real.gguf');
  symlinkSync('../../blobs/data', join(folder, 'snapshots/one/linked.gguf'));
  symlinkSync('linked.gguf', join(folder, 'snapshots/one/z-again.gguf'));
  symlinkSync('..', join(folder, 'snapshots/up'));
  symlinkSync('nowhere', join(folder, 'broken.gguf'));
  expect(await found()).toEqual(['snapshots/one/linked.gguf', 'snapshots/one/real.gguf']);
});

test('limits depth, entries and models, and reports a reached limit', async () => {
  put('a.gguf', 'b.gguf', 'one/c.gguf', 'one/two/d.gguf');
  expect(await found({ ...SCAN_LIMITS, depth: 1 })).toEqual(['a.gguf', 'b.gguf', 'one/c.gguf']);
  expect(await found({ ...SCAN_LIMITS, models: 2 })).toHaveLength(2);
  const { problems } = await scanFolders([folder], { ...SCAN_LIMITS, entries: 2 });
  expect(problems).toEqual([{ folder, reason: expect.stringContaining('is ignored') }]);
});

test('reports a missing folder and scans the others', async () => {
  put('a.gguf');
  const missing = join(folder, 'missing');
  const result = await scanFolders([missing, folder]);
  expect(result.files).toHaveLength(1);
  expect(result.problems).toEqual([{ folder: missing, reason: 'ENOENT' }]);
});

test('names files in formats that cannot be used, many alike as one', async () => {
  put('whisper/model.bin', 'whisper/vocabulary.txt', 'whisper/config.json', 'm.gguf.part');
  put('checkpoints/a.ckpt', 'checkpoints/b.ckpt', 'checkpoints/c.ckpt', 'checkpoints/d.ckpt');
  put(
    'split/m-00002-of-00003.gguf',
    'whole/config.json',
    'whole/model.safetensors',
    'whole/x.safetensors.part',
  );
  const { unusable } = await scanFolders([folder]);
  const named = unusable.map(({ file, reason }) => `${file}: ${reason}`);
  expect(named).toEqual([
    expect.stringMatching(/\/m\.gguf\.part: an unfinished download$/),
    'checkpoints/a.ckpt and 3 more: a PyTorch or pickle file',
    'split/m-00002-of-00003.gguf: part 2 of a split model whose first part is missing',
    expect.stringMatching(/^whisper: a model in CTranslate2/),
    'whole/x.safetensors.part: an unfinished download',
  ]);
  expect(unusable.every(({ advice }) => advice.endsWith('.'))).toBe(true);
});
