/** The fuzz targets on recorded inputs of which a few bytes are changed, removed or doubled at random, thousands of times. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { randomFrom, scale, seed } from '../../../daemon/test/harness/scale.ts';
import { TARGETS } from '../../../scripts/fuzz/targets.ts';

const fuzzing = join(import.meta.dirname, '..', '..', '..', 'scripts', 'fuzz');

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

test.each(Object.keys(TARGETS))('target %s holds its properties', async (name) => {
  const { fuzz } = (await import(join(fuzzing, 'targets', `${name}.ts`))) as {
    fuzz: (data: Buffer) => void | Promise<void>;
  };
  const folder = join(fuzzing, 'corpus', name);
  const known = readdirSync(folder).map((file) => readFileSync(join(folder, file)));
  const random = randomFrom(seed(`fuzz target ${name}`));
  expect(known.length).toBeGreaterThan(0);
  for (let i = 0; i < scale(name === 'gguf' ? 5_000 : 50_000); i++) {
    const input = changed(known[i % known.length] as Buffer, random);
    try {
      await fuzz(input);
    } catch (error) {
      throw new Error(`on ${JSON.stringify(input.toString('latin1'))}`, { cause: error });
    }
  }
});
