import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { cachedFolder, sha256OfFile, shortHash } from './cache.ts';

const write = (text: string) => async (folder: string) => writeFileSync(join(folder, 'file'), text);

it('fills an entry once', async () => {
  const cache = scratch();
  const first = await cachedFolder('entry', write('a'), cache);
  const again = await cachedFolder(
    'entry',
    () => {
      throw new Error('filled again');
    },
    cache,
  );
  expect(again).toBe(first);
  expect(await sha256OfFile(join(first, 'file'))).toBe(
    'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
  );
});

it('a failed fill leaves nothing, and the next one starts again', async () => {
  const cache = scratch();
  const fails = async (folder: string) => {
    writeFileSync(join(folder, 'half'), '');
    throw new Error('interrupted');
  };
  await expect(cachedFolder('entry', fails, cache)).rejects.toThrow('interrupted');
  expect(readdirSync(cache)).toEqual([]);
  const folder = await cachedFolder('entry', write('a'), cache);
  expect(readdirSync(folder)).toEqual(['file']);
});

it('two fills at the same time: both get the entry, and one scratch folder is discarded', async () => {
  const cache = scratch();
  const both = await Promise.all(['a', 'b'].map((text) => cachedFolder('entry', write(text), cache)));
  expect(new Set(both).size).toBe(1);
  expect(readdirSync(cache)).toEqual(['entry']);
});

it('removes folders of killed processes, and none of a running process', async () => {
  const cache = scratch();
  const running = `.scratch-${process.pid}-other`;
  // Above the largest process id of Linux (2^22).
  const stale = '.scratch-4194999-other';
  for (const name of [running, stale]) mkdirSync(join(cache, name));
  await cachedFolder('entry', write('a'), cache);
  expect([running, stale].map((name) => existsSync(join(cache, name)))).toEqual([true, false]);
});

it('hashes depend on each text and on the boundaries between them', () => {
  expect(shortHash('a', 'b')).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set([shortHash('a', 'b'), shortHash('ab'), shortHash('b', 'a')]).size).toBe(3);
});
