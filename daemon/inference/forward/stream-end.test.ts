import { expect, test } from 'vitest';
import { isComplete } from './stream-end.ts';

const chunk = (choice: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;

test.each([
  ['the end marker', `${chunk({ delta: { content: 'a' } })}data: [DONE]\n\n`],
  ['the end marker without a space', 'data:[DONE]\r\n\r\n'],
  ['a finish reason, with counts behind it', `${chunk({ finish_reason: 'stop' })}data: {"usage":{}}\n\n`],
  ['a finish reason with spaces', 'data: {"choices":[{"finish_reason" : "length"}]}'],
  [
    "the last event of llama.cpp's native completions",
    'data: {"content":"","stop":true,"tokens_predicted":3}\n\n',
  ],
])('%s is an end', (_, text) => expect(isComplete(text)).toBe(true));

test('an earlier finish reason is enough, unless the text ends inside an event', () => {
  expect(isComplete('data: {"usage":{}}\n\n', true)).toBe(true);
  expect(isComplete(': done\n', true)).toBe(true);
  expect(isComplete('data: {"usage":{}}\n\ndata: {"cho', true)).toBe(false);
  expect(isComplete(`${chunk({ finish_reason: 'stop' })}data: {"cho`)).toBe(false);
});

test.each([
  ['nothing', ''],
  ['words', chunk({ delta: { content: 'a' }, finish_reason: null })],
  [
    'text of a model that contains an end marker',
    chunk({ delta: { content: '"finish_reason":"stop"\ndata: [DONE]' } }),
  ],
  ['a partial chunk', 'data: {"choices":[{"finish_rea'],
  ['an engine that always sends a reason, empty', chunk({ delta: { content: 'a' }, finish_reason: '' })],
  ["an event of llama.cpp's native completions", 'data: {"content":"a","stop":false}\n\n'],
])('%s is not an end', (_, text) => expect(isComplete(text)).toBe(false));
