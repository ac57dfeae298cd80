import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../../../test/harness/any-text.ts';
import { detokenizer } from './detokenizer.ts';

/** A vocabulary whose tokens are single bytes, or any byte strings. */
function ofBytes(chunks: readonly Buffer[]) {
  const work: number[] = [];
  const read = detokenizer((tokens, before) => {
    work.push(tokens.length + before.length);
    return Buffer.concat(tokens.map((t) => chunks[t] as Buffer)).toString('utf8');
  });
  return { read, work };
}

test('a character that is spread over tokens appears once it is whole', () => {
  const { read } = ofBytes([...Buffer.from('aé€😀')].map((b) => Buffer.from([b])));
  const shown = Array.from({ length: 10 }, (_, token) => read.push(token));
  expect(shown).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀']);
});

test('however the bytes are cut into tokens, the text comes out once and whole', () => {
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

test('the work for one token does not grow with the text', () => {
  const { read, work } = ofBytes([Buffer.from('word ')]);
  for (let i = 0; i < 5000; i++) read.push(0);
  expect(Math.max(...work)).toBeLessThanOrEqual(5);
});

test('bytes that are no UTF-8 are shown as such and never held for ever', () => {
  const { read, work } = ofBytes([Buffer.from([0xff])]);
  let text = '';
  for (let i = 0; i < 200; i++) text += read.push(0);
  expect(text.length).toBeGreaterThan(150);
  expect(Math.max(...work)).toBeLessThanOrEqual(40);
});

test('control tokens appear as the text they are given, whatever was open before', () => {
  const read = detokenizer(
    (tokens) =>
      Buffer.concat(tokens.map((t) => (t === 9 ? Buffer.alloc(0) : Buffer.from([t])))).toString('utf8'),
    new Map([[9, '<mark>']]),
  );
  expect([97, 9, 0xc3, 9, 98].map((token) => read.push(token))).toEqual(['a', '<mark>', '', '<mark>', 'b']);
});
