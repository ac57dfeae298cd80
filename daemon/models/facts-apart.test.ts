import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseOutcomes, readFactsApart } from './facts-apart.ts';
import { tinyChat } from './gguf/tiny-chat.ts';
import { encodeGguf } from './gguf/writer.ts';
import { readGgufFacts } from './gguf-facts.ts';

test('one outcome per file, in order, read in another process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'facts-apart-'));
  const [good, bad] = [join(folder, 'a b;$(id).gguf'), join(folder, 'bad.gguf')];
  writeFileSync(good, encodeGguf(tinyChat()));
  writeFileSync(bad, 'text');
  expect(await readFactsApart([bad, good])).toEqual([
    { path: bad, reason: 'it is not a GGUF file', projector: false },
    { path: good, facts: await readGgufFacts(good) },
  ]);
  rmSync(folder, { recursive: true });
});

test('nothing to read starts nothing; a reader that was stopped leaves a reason', async () => {
  expect(await readFactsApart([])).toEqual([]);
  expect(await readFactsApart(['/x.gguf'], AbortSignal.abort())).toEqual([
    { path: '/x.gguf', reason: 'its header could not be read' },
  ]);
});

test('a last line that was cut off is left out', () => {
  expect(parseOutcomes('{"path":"a","reason":"r"}\n{"path":"b","rea')).toEqual([{ path: 'a', reason: 'r' }]);
});
