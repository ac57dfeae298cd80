import { describe, expect, test } from 'vitest';
import { ChatPieces, wholePieces } from './chat-pieces.ts';
import type { Json } from './json.ts';

const chunk = (delta: Json, more: Json = {}): Json => ({ choices: [{ index: 0, delta, ...more }] });
const read = (...answers: Json[]) => {
  const pieces = new ChatPieces();
  return answers.flatMap((answer) => pieces.read(answer));
};
const call = (fields: Json) => chunk({ tool_calls: [fields] });

describe('chunks', () => {
  test('reasoning under any field name, text and refusals; empty texts are skipped', () => {
    expect(
      read(
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning_content: 'a' }),
        chunk({ reasoning: 'b' }),
        chunk({ content: 'c' }),
        chunk({ refusal: 'd', content: null }),
      ),
    ).toEqual([
      { type: 'reasoning', text: 'a', field: 'reasoning_content' },
      { type: 'reasoning', text: 'b', field: 'reasoning' },
      { type: 'text', text: 'c' },
      { type: 'refusal', text: 'd' },
    ]);
  });

  test('texts in content parts', () => {
    const thinking = [{ type: 'text', text: 'a' }];
    expect(
      read(
        chunk({ content: [{ type: 'thinking', thinking }] }),
        chunk({ content: [{ type: 'text', text: 'b' }] }),
      ),
    ).toEqual([
      { type: 'reasoning', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
  });

  test('a call continues by its number', () => {
    expect(
      read(
        call({ index: 1, id: 'x', function: { name: 'f', arguments: '' } }),
        call({ index: 1, function: { arguments: '{' } }),
        call({ index: 2, id: 'y', function: { name: 'g', arguments: '[]' } }),
        call({ index: 1, function: { arguments: '}' } }),
      ),
    ).toEqual([
      { type: 'call', index: 0, id: 'x', name: 'f' },
      { type: 'arguments', index: 0, text: '{' },
      { type: 'call', index: 1, id: 'y', name: 'g' },
      { type: 'arguments', index: 1, text: '[]' },
      { type: 'arguments', index: 0, text: '}' },
    ]);
  });

  test('calls that share a number are separated by id; a repeated id continues the call', () => {
    expect(
      read(
        call({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a":' } }),
        call({ index: 0, id: 'x', function: { name: 'f', arguments: '1}' } }),
        call({ index: 0, id: 'y', function: { name: 'g', arguments: '[]' } }),
        call({ index: 0, id: 'z', function: { arguments: ' ' } }),
      ),
    ).toEqual([
      { type: 'call', index: 0, id: 'x', name: 'f' },
      { type: 'arguments', index: 0, text: '{"a":' },
      { type: 'arguments', index: 0, text: '1}' },
      { type: 'call', index: 1, id: 'y', name: 'g' },
      { type: 'arguments', index: 1, text: '[]' },
      { type: 'arguments', index: 1, text: ' ' },
    ]);
  });

  test('without numbers a name starts a call; without an id it gets a new one', () => {
    const pieces = read(
      call({ function: { name: 'f', arguments: '{' } }),
      call({ function: { arguments: '}' } }),
      call({ function: { name: 'g' } }),
    );
    expect(pieces).toMatchObject([
      { type: 'call', index: 0, name: 'f', id: expect.stringMatching(/^call_[0-9a-f]{32}$/) },
      { type: 'arguments', index: 0, text: '{' },
      { type: 'arguments', index: 0, text: '}' },
      { type: 'call', index: 1, name: 'g' },
    ]);
  });

  test('finish reason, stop sequence and token counts', () => {
    expect(
      read(chunk({}, { finish_reason: 'stop', stop_reason: 'END' }), {
        choices: [],
        usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 20 } },
      }),
    ).toEqual([
      { type: 'finish', reason: 'stop', stop: 'END' },
      { type: 'usage', usage: { input: 9, cached: 9, output: 4, reasoning: 0 } },
    ]);
  });
});

test('a complete response is read in stream order', () => {
  const message = {
    content: 'text',
    reasoning_content: 'thought',
    tool_calls: [
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: { z: 1 } } },
    ],
  };
  const pieces = read({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  expect(pieces.map((piece) => ('text' in piece ? piece.text : piece.type))).toEqual([
    'thought',
    'text',
    'call',
    '{}',
    'call',
    '{"z":1}',
    'finish',
  ]);
});

test.each([
  [{}],
  [{ choices: [] }],
  [{ choices: [null] }],
  [{ choices: [{ delta: { tool_calls: [1, {}] } }] }],
])('finds no pieces in %j', (answer) => {
  expect(read(answer)).toEqual([]);
});

test.each([[{}], [{ choices: [] }], [{ choices: [{ index: 0, finish_reason: 'stop' }] }]])(
  '%j is not a complete response',
  (answer) => expect(() => wholePieces(answer)).toThrow('without a message'),
);
