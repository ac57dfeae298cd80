import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLineBased, LineCap } from './line-cap.ts';

const MAX_BYTES = 8;

/** A reference on the whole text: every line has at most `MAX_BYTES` bytes. */
const judged = (text: string): boolean => text.split(/\n|\r/).every((line) => line.length <= MAX_BYTES);

describe('the maximum line', () => {
  test.each([
    ['within', ['data: 1\n', '\n'], true],
    ['without an end', ['12345678'], true],
    ['without an end and too long', ['12345678', '9'], false],
    ['that ends too late, in a later chunk', ['12345678', '9\n1'], false],
    ['that ends in time, before a long chunk', ['1234567', '8\n234567'], true],
    ['in CR', ['1234567\r', '1234567\r'], true],
  ])('%s', (_, chunks, within) => {
    const cap = new LineCap(MAX_BYTES);
    expect(chunks.every((chunk) => cap.accepts(Buffer.from(chunk)))).toBe(within);
  });

  test('property: the result is independent of chunking', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n'), maxLength: 4 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (chunks) => {
        const cap = new LineCap(MAX_BYTES);
        const isAccepted = chunks.every((chunk) => cap.accepts(Buffer.from(chunk)));
        expect(isAccepted).toBe(judged(chunks.join('')));
      }),
    );
  });
});

test.each([
  ['text/event-stream', true],
  ['Text/Event-Stream; charset=utf-8', true],
  ['application/x-ndjson', true],
  ['application/json', false],
  ['audio/mpeg', false],
  [undefined, false],
])('%s', (type, lines) => {
  expect(isLineBased(type)).toBe(lines);
});
