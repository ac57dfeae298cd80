import { expect, it } from 'vitest';
import type { Piece } from '../piece.ts';
import { wholeMessage } from './full-message.ts';

const HEAD = { id: 'msg_1', model: 'm', upstream: null };
const answer = (reason: string, ...args: string[]): Piece[] => [
  { type: 'text', text: 'Look:' },
  ...args.flatMap((text, index): Piece[] => [
    { type: 'call', index, id: `c${index}`, name: 'f' },
    { type: 'arguments', index, text },
  ]),
  { type: 'finish', reason, stop: null },
];
const TEXT = { type: 'text', text: 'Look:' };
const CALL = { type: 'tool_use', id: 'c0', name: 'f', input: { a: 1 } };

it('a call that the token limit truncated is left out, with the stop reason', () => {
  expect(wholeMessage(HEAD, answer('length', '{"a":1}', '{"a":'))).toMatchObject({
    content: [TEXT, CALL],
    stop_reason: 'max_tokens',
  });
  expect(wholeMessage(HEAD, answer('length', '{"a":'))).toMatchObject({
    content: [TEXT],
    stop_reason: 'max_tokens',
  });
  expect(wholeMessage(HEAD, answer('length', '{"a":1}')).content).toEqual([TEXT, CALL]);
});

it('any other call without an object is a failure of the engine', () => {
  const upstreamError = expect.objectContaining({ code: 'upstream.error' });
  expect(() => wholeMessage(HEAD, answer('tool_calls', '{"a":'))).toThrow(upstreamError);
  expect(() => wholeMessage(HEAD, answer('length', '{"a":', '{}'))).toThrow(upstreamError);
});
