import { expect, test } from 'vitest';
import { isEventStream, isOnlyComments, sseComment, sseData } from './sse.ts';

test('an event is one data line and a blank line', () => {
  expect(sseData({ a: 'x\ny' })).toBe('data: {"a":"x\\ny"}\n\n');
});

test('a comment is one line for any text', () => {
  expect(sseComment('a\r\ndata: b\n')).toBe(': a data: b \n\n');
});

test.each([
  ['text/event-stream', true],
  ['Text/Event-Stream; charset=utf-8', true],
  ['text/event-streams', false],
  ['application/json', false],
  [undefined, false],
])('%s is an event stream: %s', (type, expected) => {
  expect(isEventStream(type)).toBe(expected);
});

test.each([
  [': reading\n\n', true],
  [': a\r\n\r\n: b\r\r', true],
  ['\n', true],
  ['', true],
  [':', true],
  ['data: :\n\n', false],
  [': a\n\ndata: x\n\n', false],
  [': a\rdata: x\r\r', false],
  ['event: x\n', false],
  [' : a\n', false],
])('%j contains only comments: %s', (text, expected) => {
  expect(isOnlyComments(Buffer.from(text))).toBe(expected);
});
