/** The fuzz targets on the recorded inputs. e2e/system/fuzz/changed-corpus.test.ts changes these at random. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TARGETS } from './targets.ts';

type Fuzz = (data: Buffer) => void | Promise<void>;

const corpus = join(import.meta.dirname, 'corpus');
const inputs = (name: string) =>
  readdirSync(join(corpus, name)).map((file) => readFileSync(join(corpus, name, file)));

test('every target has inputs to start from, and every folder of inputs a target', () => {
  expect(readdirSync(corpus).sort()).toEqual(Object.keys(TARGETS).sort());
});

describe.each(Object.keys(TARGETS))('target %s', (name) => {
  const load = async () =>
    ((await import(join(import.meta.dirname, 'targets', `${name}.ts`))) as { fuzz: Fuzz }).fuzz;

  test('holds its properties on every input that was ever found', async () => {
    const fuzz = await load();
    for (const input of inputs(name)) await fuzz(input);
    await fuzz(Buffer.alloc(0));
  });
});
