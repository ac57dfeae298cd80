import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { randomFrom, scale, seed } from '../../daemon/test/harness/scale.ts';
import { TARGETS } from './targets.ts';

type Fuzz = (data: Buffer) => void | Promise<void>;

const corpus = join(import.meta.dirname, 'corpus');
const inputs = (name: string) =>
  readdirSync(join(corpus, name)).map((file) => readFileSync(join(corpus, name, file)));

/** An input with a few bytes changed, removed or doubled. */
function changed(input: Buffer, random: () => number): Buffer {
  const bytes = [...input];
  for (let edits = 1 + Math.floor(random() * 4); edits > 0; edits--) {
    const at = Math.floor(random() * bytes.length);
    const how = random();
    const taken = bytes.slice(at, at + Math.floor(random() * 8));
    if (how < 0.5) bytes[at] = Math.floor(random() * 256);
    else if (how < 0.75) bytes.splice(at, taken.length);
    else bytes.splice(at, 0, ...taken);
  }
  return Buffer.from(bytes);
}

test('every target has inputs to start from, and every folder of inputs a target', () => {
  expect(readdirSync(corpus).sort()).toEqual(Object.keys(TARGETS).sort());
});

describe.each(Object.keys(TARGETS))('target %s', (name) => {
  const load = async () =>
    ((await import(join(import.meta.dirname, 'targets', `${name}.ts`))) as { fuzz: Fuzz }).fuzz;

  test('keeps its promises on every input that was ever found', async () => {
    const fuzz = await load();
    for (const input of inputs(name)) await fuzz(input);
    await fuzz(Buffer.alloc(0));
  });

  test('and on what is like them', async () => {
    const fuzz = await load();
    const random = randomFrom(seed(`fuzz target ${name}`));
    const known = inputs(name);
    for (let i = 0; i < scale(name === 'gguf' ? 5_000 : 50_000); i++) {
      const input = changed(known[i % known.length] as Buffer, random);
      try {
        await fuzz(input);
      } catch (error) {
        throw new Error(`on ${JSON.stringify(input.toString('latin1'))}`, { cause: error });
      }
    }
  });
});
