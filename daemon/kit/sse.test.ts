import { expect, test } from 'vitest';
import { isEventStream, sseComment, sseData } from './sse.ts';

test('an event is one data line and a blank line', () => {
  expect(sseData({ a: 'x\ny' })).toBe('data: {"a":"x\\ny"}\n\n');
});

test('a comment stays one line whatever its text holds', () => {
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
