import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../../test/harness/any-text.ts';
import { detokenizer } from './detokenizer.ts';

/** A vocabulary whose tokens are single bytes or byte strings. */
function ofBytes(chunks: readonly Buffer[]) {
  const work: number[] = [];
  const read = detokenizer((tokens, before) => {
    work.push(tokens.length + before.length);
    return Buffer.concat(tokens.map((t) => chunks[t] as Buffer)).toString('utf8');
  });
  return { read, work };
}

test('emits a character that spans several tokens once it is complete', () => {
  const { read } = ofBytes([...Buffer.from('aé€😀')].map((b) => Buffer.from([b])));
  const emitted = Array.from({ length: 10 }, (_, token) => read.push(token));
  expect(emitted).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀']);
});

test('emits the whole text exactly once for any split into tokens', () => {
  fc.assert(
    fc.property(anyText(), fc.array(fc.integer({ min: 1, max: 5 })), (text, cuts) => {
      const whole = text.replaceAll('\ufffd', '').toWellFormed().replaceAll('\ufffd', '');
      const bytes = Buffer.from(whole);
      const chunks: Buffer[] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = cuts[i % Math.max(1, cuts.length)] ?? 1;
        chunks.push(bytes.subarray(at, at + size));
        at += size;
      }
      const { read } = ofBytes(chunks);
      expect(chunks.map((_, token) => read.push(token)).join('')).toBe(whole);
    }),
  );
});

test('does constant work per token', () => {
  const { read, work } = ofBytes([Buffer.from('word ')]);
  for (let i = 0; i < 5000; i++) read.push(0);
  expect(Math.max(...work)).toBeLessThanOrEqual(5);
});

test('emits invalid UTF-8 as such and does not hold it back indefinitely', () => {
  const { read, work } = ofBytes([Buffer.from([0xff])]);
  let text = '';
  for (let i = 0; i < 200; i++) text += read.push(0);
  expect(text.length).toBeGreaterThan(150);
  expect(Math.max(...work)).toBeLessThanOrEqual(40);
});

test('emits control tokens as their given text, also after an incomplete character', () => {
  const read = detokenizer(
    (tokens) =>
      Buffer.concat(tokens.map((t) => (t === 9 ? Buffer.alloc(0) : Buffer.from([t])))).toString('utf8'),
    new Map([[9, '<mark>']]),
  );
  expect([97, 9, 0xc3, 9, 98].map((token) => read.push(token))).toEqual(['a', '<mark>', '', '<mark>', 'b']);
});
