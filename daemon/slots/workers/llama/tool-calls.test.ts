import { expect, test } from 'vitest';
import { toolCallScanner } from './tool-calls.ts';

function run(pieces: readonly string[]) {
  const scanner = toolCallScanner();
  const seen = pieces.map((piece) => scanner.push(piece));
  return {
    text: seen.map((piece) => piece.text).join('') + scanner.end(),
    calls: seen.flatMap((piece) => piece.calls).map((call) => call.function),
  };
}

const CALL = '<tool_call>\n{"name": "get_time", "arguments": {"zone": "UTC"}}\n</tool_call>';
const GET_TIME = { name: 'get_time', arguments: '{"zone":"UTC"}' };

test('a call is taken out of the text', () => {
  expect(run([`Let me look. ${CALL}`])).toEqual({ text: 'Let me look. ', calls: [GET_TIME] });
});

test('letter by letter it is the same, and several calls keep their order', () => {
  const second = CALL.replaceAll('get_time', 'get_date');
  expect(run([...`${CALL}${second}`])).toEqual({
    text: '',
    calls: [GET_TIME, { ...GET_TIME, name: 'get_date' }],
  });
});

test('arguments that are text already stay as they are, missing ones become an object', () => {
  expect(run(['<tool_call>{"name":"a","arguments":"{\\"x\\":1}"}</tool_call>']).calls).toEqual([
    { name: 'a', arguments: '{"x":1}' },
  ]);
  expect(run(['<tool_call>{"name":"a"}</tool_call>']).calls).toEqual([{ name: 'a', arguments: '{}' }]);
});

test.each([
  '<tool_call>not json</tool_call>',
  '<tool_call>{"no":"name"}</tool_call>',
  '<tool_call>{"name":"cut off',
  'a < b and <tool',
  '</tool_call> alone',
])('%s stays text', (text) => {
  expect(run([text])).toEqual({ text, calls: [] });
  expect(run([...text])).toEqual({ text, calls: [] });
});

test('each call has an id of its own', () => {
  const { calls } = toolCallScanner().push(CALL + CALL);
  expect(calls[0]?.id).toMatch(/^call_[0-9a-f]{32}$/);
  expect(calls[0]?.id).not.toBe(calls[1]?.id);
});
