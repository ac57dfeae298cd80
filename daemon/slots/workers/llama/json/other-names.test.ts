import fc from 'fast-check';
import { getLlama, type Llama, LlamaLogLevel } from 'node-llama-cpp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { otherNames } from './other-names.ts';

let llama: Llama;
beforeAll(async () => {
  llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: LlamaLogLevel.disabled,
  });
}, 30_000);
afterAll(() => llama.dispose());

async function taker(names: string[]): Promise<(text: string) => boolean> {
  const compiled = await llama.createGrammar({ grammar: `root ::= ${otherNames(names)}` });
  const native = compiled as typeof compiled & { _testText(text: string): boolean };
  return (text) => native._testText(text);
}

const name = fc.string({
  unit: fc.constantFrom('a', 'b', '"', '\\', '\n', 'é', '🌸', ']', '^', '-', ' '),
  maxLength: 4,
});

test('any string but the names, however alike', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { maxLength: 6 }),
      fc.array(name, { maxLength: 10 }),
      async (names, others) => {
        const takes = await taker(names);
        for (const word of [...names, ...others, ...names.map((one) => `${one}a`)])
          expect(takes(JSON.stringify(word)), JSON.stringify(word)).toBe(!names.includes(word));
      },
    ),
    { numRuns: 100 },
  );
});

test('a name has one way to be written only', async () => {
  const takes = await taker(['a/b']);
  for (const written of ['"\\u0061/b"', '"a\\/b"', '"\\u0062"']) expect(takes(written), written).toBe(false);
});

test('a very long name costs no depth', async () => {
  const takes = await taker(['x'.repeat(5_000)]);
  expect([takes('"x"'), takes(`"${'x'.repeat(63)}y"`), takes(`"${'x'.repeat(5_000)}"`)]).toEqual([
    true,
    true,
    false,
  ]);
});
