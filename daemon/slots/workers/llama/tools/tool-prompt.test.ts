import { expect, test } from 'vitest';
import { plainMessages, toolInstructions, withInstructions } from './tool-prompt.ts';

test('the instructions contain each tool and the form of a call', () => {
  const instructions = toolInstructions([
    { type: 'function', function: { name: 'f', parameters: { type: 'object' } } },
  ]);
  expect(instructions).toContain('{"name":"f","parameters":{"type":"object"}}');
  expect(instructions).toContain('{"name": "the name of the function", "arguments"');
});

test('converts calls and results to ordinary messages and keeps others', () => {
  const call = { function: { name: 'f', arguments: '{"a":1}' } };
  expect(
    plainMessages([
      { role: 'user', content: 'now?' },
      {
        role: 'assistant',
        content: 'Wait.',
        tool_calls: [call, { function: { name: 'g', arguments: 'no JSON' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'noon' },
    ]),
  ).toEqual([
    { role: 'user', content: 'now?' },
    {
      role: 'assistant',
      content: 'Wait.\n{"name":"f","arguments":{"a":1}}\n{"name":"g","arguments":"no JSON"}',
    },
    { role: 'user', content: 'Result of the function call:\nnoon' },
  ]);
});

test('adds instructions to the system message, or as a new one', () => {
  const user = { role: 'user', content: 'hi' };
  const system = { role: 'system', content: 'S' };
  expect(withInstructions([user], 'W')).toEqual([{ role: 'system', content: 'W' }, user]);
  expect(withInstructions([system, user], 'W')).toEqual([{ role: 'system', content: 'W\n\nS' }, user]);
});
