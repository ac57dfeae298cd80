import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { IncompleteAnswerScan } from './incomplete-answer.ts';

const event = (choice: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;
const WORD = event({ delta: { content: 'half' }, finish_reason: null });
const ABORT = event({ delta: {}, finish_reason: 'abort' });
const cut = (text: string) => new IncompleteAnswerScan().cutAt(Buffer.from(text));

test.each([
  ['abort', ABORT],
  ['error', event({ delta: {}, finish_reason: 'error' })],
  ['network_error', event({ delta: {}, finish_reason: 'network_error' })],
  ['insufficient_system_resource', event({ delta: {}, finish_reason: 'insufficient_system_resource' })],
  ['spaces', 'data: {"choices":[{"finish_reason" : "abort"}]}\n\n'],
  ['an unknown reason with an error', event({ finish_reason: 'crash' }, { error: { message: 'no' } })],
])('%s ends an incomplete answer', (_, text) => {
  expect(cut(WORD + text)).toBe(WORD.length);
  expect(cut(text)).toBe(0);
});

test.each([
  ['stop', event({ delta: {}, finish_reason: 'stop' })],
  ['length', event({ delta: {}, finish_reason: 'length' })],
  ['model_length', event({ delta: {}, finish_reason: 'model_length' })],
  ['an unknown reason without an error', event({ finish_reason: 'eos' })],
  ['a complete answer with a null error', event({ finish_reason: 'eos' }, { error: null })],
  ['text of a model', event({ delta: { content: '"finish_reason":"abort"' }, finish_reason: null })],
])('%s does not', (_, text) => expect(cut(text)).toBeNull());

it('finds it wherever the stream is split', () => {
  const bytes = Buffer.from(WORD + ABORT);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: bytes.length - 1 }), (at) => {
      const scan = new IncompleteAnswerScan();
      const cuts = [scan.cutAt(bytes.subarray(0, at)), scan.cutAt(bytes.subarray(at))];
      expect(cuts.some((each) => each !== null)).toBe(true);
    }),
  );
});
