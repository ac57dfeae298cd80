import { describe, expect, test } from 'vitest';
import { scanBody } from './body-index.ts';
import { rewriteChat } from './deviations.ts';

const user = { role: 'user', content: 'Count.' };
const opening = { role: 'assistant', content: 'One two' };
const sent = (body: object, continuesOnRequest = true) =>
  JSON.parse(
    rewriteChat(
      {
        index: scanBody(Buffer.from(JSON.stringify({ model: 'm', ...body }))),
        local: true,
        continuesOnRequest,
        thinkingDefault: () => null,
      },
      'm',
      'm',
    ).toString(),
  ) as Record<string, unknown>;
const FLAGS = { continue_final_message: true, add_generation_prompt: false };

describe('an answer that the caller began', () => {
  test.each<[string, object]>([
    ['after a question', { messages: [user, opening] }],
    ['as a stream', { messages: [user, opening], stream: true }],
    ['with tools that are optional', { messages: [user, opening], tools: [{}], tool_choice: 'auto' }],
    ['with no tools allowed', { messages: [user, opening], tools: [{}], tool_choice: 'none' }],
    ['with the format of text', { messages: [user, opening], response_format: { type: 'text' } }],
    ['after two messages of the assistant', { messages: [user, opening, opening] }],
  ])('is continued by vLLM %s', (_, body) => {
    expect(sent(body)).toMatchObject({ ...body, ...FLAGS });
  });

  test.each<[string, object]>([
    ['a message of the user is last', { messages: [user, opening, user] }],
    ['it is the only message', { messages: [opening] }],
    ['it is empty', { messages: [user, { ...opening, content: '' }] }],
    ['it is null', { messages: [user, { ...opening, content: null }] }],
    ['it has parts', { messages: [user, { ...opening, content: [{ type: 'text', text: 'One' }] }] }],
    [
      'it has calls',
      {
        messages: [
          user,
          {
            ...opening,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
        ],
      },
    ],
    [
      'the answer has a schema',
      { messages: [user, opening], response_format: { type: 'json_schema', json_schema: {} } },
    ],
    ['a call is required', { messages: [user, opening], tools: [{}], tool_choice: 'required' }],
    ['a tool is required', { messages: [user, opening], tool_choice: { type: 'function' } }],
    ['the caller decided', { messages: [user, opening], add_generation_prompt: true }],
    ['a flag is null', { messages: [user, opening], continue_final_message: null }],
    ['the caller continues', { messages: [user, opening], continue_final_message: true }],
  ])('stays unchanged when %s', (_, body) => {
    expect(sent(body)).toEqual({ model: 'm', ...body });
  });

  test('stays unchanged for every other server', () => {
    expect(sent({ messages: [user, opening] }, false)).toEqual({ model: 'm', messages: [user, opening] });
  });
});
