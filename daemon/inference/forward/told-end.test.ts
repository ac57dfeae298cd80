import { expect, test } from 'vitest';
import { tellsItsEnd } from './told-end.ts';

const chunk = (choice: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;

test.each([
  ['the closing line', `${chunk({ delta: { content: 'a' } })}data: [DONE]\n\n`],
  ['the closing line without a blank', 'data:[DONE]\r\n\r\n'],
  ['a finish reason, with counts behind it', `${chunk({ finish_reason: 'stop' })}data: {"usage":{}}\n\n`],
  ['a finish reason with blanks', 'data: {"choices":[{"finish_reason" : "length"}]}'],
])('%s is an end', (_, text) => expect(tellsItsEnd(text)).toBe(true));

test.each([
  ['nothing', ''],
  ['words', chunk({ delta: { content: 'a' }, finish_reason: null })],
  ['a model that writes of ends', chunk({ delta: { content: '"finish_reason":"stop"\ndata: [DONE]' } })],
  ['half a chunk', 'data: {"choices":[{"finish_rea'],
])('%s is none', (_, text) => expect(tellsItsEnd(text)).toBe(false));
