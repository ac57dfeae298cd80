import { closeSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { parseLines } from './child-batches.ts';
import { readGgufMetadata } from './gguf-metadata.ts';
import { readMetadataInChild } from './read-metadata-in-child.ts';
import { tinyChat } from './testing/gguf/tiny-chat.ts';
import { encodeGguf } from './testing/gguf/writer.ts';

test('returns one outcome per file, in order, from another process', async () => {
  const folder = scratch();
  const [good, bad] = [join(folder, 'a b;$(id).gguf'), join(folder, 'bad.gguf')];
  writeFileSync(good, encodeGguf(tinyChat()));
  writeFileSync(bad, 'text');
  expect(await readMetadataInChild([bad, good])).toEqual([
    { path: bad, reason: 'it is not a GGUF file', projector: false, passing: false },
    { path: good, metadata: await readGgufMetadata(good) },
  ]);
});

test('reports an unreadable file without its path, as temporary', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'metadata-in-child-'));
  const path = join(folder, 'away.gguf');
  symlinkSync(path, path);
  expect(await readMetadataInChild([path])).toEqual([
    { path, reason: "the file can't be read (ELOOP)", projector: false, passing: true },
  ]);
  rmSync(folder, { recursive: true });
});

const words = (...numbers: number[]) =>
  Buffer.concat(numbers.map((number) => Buffer.from(BigUint64Array.of(BigInt(number)).buffer)));
const types = (...numbers: number[]) => Buffer.from(Uint32Array.from(numbers).buffer);

/**
 * Writes a file of zeros with a header that declares tensors and six lists of a million strings, all of which
 * exist.
 */
function writeGreedy(path: string): void {
  const list = Buffer.concat([words(1), Buffer.from('k'), types(9, 8), words(1e6)]);
  const file = openSync(path, 'w');
  writeSync(file, Buffer.concat([Buffer.from('GGUF'), types(3), words(1e7, 6)]));
  for (let i = 0; i < 6; i++) writeSync(file, list, 0, list.length, 24 + i * (list.length + 8e6));
  closeSync(file);
}

test('a crafted file that crashes its reader does not hide later files', async () => {
  const folder = scratch();
  const path = (name: string) => join(folder, `${name}.gguf`);
  const paths = [path('a'), path('greedy'), path('c')];
  for (const each of ['a', 'c']) writeFileSync(path(each), encodeGguf(tinyChat()));
  writeGreedy(path('greedy'));
  expect(await readMetadataInChild(paths, undefined, { start: 4_000, file: 1_000 })).toMatchObject([
    { path: path('a'), metadata: { architecture: 'llama' } },
    { path: path('greedy'), reason: 'reading its header took too long' },
    { path: path('c'), metadata: { architecture: 'llama' } },
  ]);
}, 60_000);

test('starts no process without files, and an aborted read has a reason', async () => {
  expect(await readMetadataInChild([])).toEqual([]);
  expect(await readMetadataInChild(['/x.gguf'], AbortSignal.abort())).toEqual([
    { path: '/x.gguf', reason: 'its header could not be read', passing: true, ended: true },
  ]);
});

test('drops a truncated last line', () => {
  expect(parseLines('{"path":"a","reason":"r"}\n{"path":"b","rea')).toEqual([{ path: 'a', reason: 'r' }]);
});
