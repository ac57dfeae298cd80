import { expect, test } from 'vitest';
import { cuts } from '../testing/cuts.ts';
import { AnswerReader, PLAIN_TEXT, type ReadOptions } from './response-reader.ts';
import { PLAIN_JSON, toolFamily } from './tools/family.ts';
import type { Piece } from './tools/pieces.ts';

const HERMES = toolFamily('<tool_call>');
const MISTRAL = toolFamily('[TOOL_CALLS]');
const reading = (changes: Partial<NonNullable<ReadOptions['calls']>> = {}): ReadOptions => ({
  thoughts: { opened: null },
  calls: {
    family: HERMES,
    tools: new Map([
      ['f', null],
      ['g', null],
    ]),
    parallel: true,
    ...changes,
  },
});

function read(pieces: readonly string[], how: ReadOptions) {
  const reader = new AnswerReader(how);
  const all: Piece[] = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  const text = (type: 'text' | 'reasoning') =>
    all.map((piece) => (piece.type === type ? piece.text : '')).join('');
  const calls: { index: number; name: string; arguments: string }[] = [];
  for (const piece of all) {
    if (piece.type === 'call') calls.push({ index: piece.index, name: piece.name, arguments: '' });
    const call = piece.type === 'arguments' ? calls[piece.index] : undefined;
    if (call !== undefined && piece.type === 'arguments') call.arguments += piece.text;
  }
  return { text: text('text'), reasoning: text('reasoning'), calls, isComplete: reader.isComplete };
}

const TWO =
  '<think>\nBoth.\n</think>\n\nOne moment.\n\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>\n' +
  '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>\n';

test('separates reasoning, content and calls for any split, without whitespace around calls', () => {
  for (const pieces of cuts(TWO))
    expect(read(pieces, reading())).toEqual({
      reasoning: 'Both.',
      text: 'One moment.',
      calls: [
        { index: 0, name: 'f', arguments: '{"x":1}' },
        { index: 1, name: 'g', arguments: '{}' },
      ],
      isComplete: false,
    });
});

test('is complete after the first call without parallel calls', () => {
  for (const pieces of cuts(TWO)) {
    const { calls, isComplete } = read(pieces, reading({ parallel: false }));
    expect(calls).toEqual([{ index: 0, name: 'f', arguments: '{"x":1}' }]);
    expect(isComplete).toBe(true);
  }
});

test('leaves text and whitespace unchanged when there is no call', () => {
  for (const pieces of cuts(' a  b\n\n')) expect(read(pieces, reading()).text).toBe(' a  b\n\n');
});

test('treats an unknown name as a call after a mark, and as text without one', () => {
  expect(read(['<tool_call>{"name": "other"}</tool_call>'], reading()).calls).toHaveLength(1);
  const bare = reading({ family: PLAIN_JSON });
  expect(read(['{"name": "other", "arguments": {}}'], bare).calls).toHaveLength(0);
  expect(read(['{"name": "f", "arguments": {}}'], bare).calls).toHaveLength(1);
});

test('gives every call an id in the form of its family', () => {
  const ids = (how: ReadOptions, output: string) =>
    new AnswerReader(how).push(output).flatMap((piece) => (piece.type === 'call' ? [piece.id] : []));
  const hermes = ids(reading(), '<tool_call>{"name":"f"}</tool_call><tool_call>{"name":"f"}</tool_call>');
  expect(new Set(hermes).size).toBe(2);
  expect(hermes[0]).toMatch(/^call_[0-9a-f]{32}$/);
  const mistral = ids(reading({ family: MISTRAL }), '[TOOL_CALLS][{"name":"f"}]');
  expect(mistral[0]).toMatch(/^[A-Za-z0-9]{9}$/);
});

test('leaves plain text unchanged', () => {
  expect(read(['<think>x</think> <tool_call>'], PLAIN_TEXT).text).toBe('<think>x</think> <tool_call>');
});
