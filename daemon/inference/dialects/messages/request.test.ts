import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../contract/errors.ts';
import type { Json } from '../json.ts';
import { readCount, readMessages } from './request.ts';

const bytes = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const hi = [{ role: 'user', content: 'hi' }];
const chatOf = (body: Json): Json => readMessages(bytes({ max_tokens: 9, messages: hi, ...body }));
const messagesOf = (messages: unknown, more: Json = {}) => chatOf({ messages, ...more }).messages;

function refusal(body: unknown): { status: number; path: string | undefined } {
  try {
    readMessages(bytes(body));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const fields = error.options.details?.fields as { path: string }[] | undefined;
    return { status: error.status, path: fields?.[0]?.path };
  }
  throw new Error('it was read');
}

describe('messages', () => {
  test.each([
    ['Be brief.', 'Be brief.'],
    [
      [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.', cache_control: {} },
      ],
      'One.\n\nTwo.',
    ],
    [
      [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1a2b3;' },
        { type: 'text', text: 'You code.' },
      ],
      'You code.',
    ],
  ])('the system text %j', (system, content) => {
    expect(messagesOf(hi, { system })).toEqual([{ role: 'system', content }, ...hi]);
  });

  test('a turn with reasoning, text and calls, and the results after it', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    expect(
      messagesOf([
        ...hi,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'redacted_thinking', data: 'zz' },
            { type: 'text', text: 'Wait.' },
            { type: 'tool_use', id: 'a', name: 'f', input: { z: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'one' }, image] },
            { type: 'text', text: 'And now?' },
          ],
        },
      ]),
    ).toEqual([
      ...hi,
      {
        role: 'assistant',
        reasoning_content: 'hm',
        content: 'Wait.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"z":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          { type: 'text', text: 'And now?' },
        ],
      },
    ]);
  });

  test('a result without content, a text document, an image by URL', () => {
    const document = { type: 'document', title: 'T', source: { type: 'text', data: 'body' } };
    const imageBlock = { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } };
    expect(
      messagesOf([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }, document] }]),
    ).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'user', content: 'T\nbody' },
    ]);
    expect(messagesOf([{ role: 'user', content: [imageBlock] }])).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] },
    ]);
  });
});

const f = { name: 'f', description: 'd', input_schema: { type: 'object' } };
const chatTool = {
  type: 'function',
  function: { name: 'f', description: 'd', parameters: { type: 'object' } },
};

test.each<[Json, Json]>([
  [
    { stop_sequences: ['X'], temperature: 0, top_k: 4 },
    { stop: ['X'], temperature: 0, top_k: 4 },
  ],
  [{ stop_sequences: [], metadata: { user_id: 'me' }, service_tier: 'auto' }, {}],
  [{ stream: true }, { stream: true, stream_options: { include_usage: true } }],
  [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, { enable_thinking: true }],
  [{ thinking: { type: 'disabled' } }, { enable_thinking: false }],
  [{ thinking: { type: 'adaptive' } }, {}],
  [{ output_config: { effort: 'max' } }, { reasoning_effort: 'high', enable_thinking: true }],
  [{ tools: [f] }, { tools: [chatTool] }],
  [{ tools: [] }, {}],
  [
    { tools: [f], tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    { tools: [chatTool], tool_choice: 'required', parallel_tool_calls: false },
  ],
  [
    { tools: [f], tool_choice: { type: 'tool', name: 'f' } },
    { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'f' } } },
  ],
  [
    { tools: [f], tool_choice: { type: 'none' } },
    { tools: [chatTool], tool_choice: 'none' },
  ],
  [
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    },
  ],
])('%j becomes %j', (fields, expected) => {
  expect(chatOf(fields)).toEqual({ messages: hi, max_tokens: 9, ...expected });
});

test.each<[unknown, number, string | undefined]>([
  ['{', 400, undefined],
  [{ max_tokens: 9 }, 422, 'messages'],
  [{ messages: hi }, 422, 'max_tokens'],
  [{ messages: [], max_tokens: 9 }, 422, 'messages'],
  [{ messages: hi, max_tokens: 0 }, 422, 'max_tokens'],
  [{ messages: [{ role: 'tool', content: 'x' }], max_tokens: 9 }, 422, 'messages.0.role'],
  [
    { messages: [{ role: 'user', content: [{ type: 'audio' }] }], max_tokens: 9 },
    422,
    'messages.0.content.0.type',
  ],
  [
    {
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'base64', data: '' } }] }],
      max_tokens: 9,
    },
    400,
    'messages.0.content.0.source.type',
  ],
  [
    {
      messages: hi,
      max_tokens: 9,
      tools: [{ type: 'web_search_20250305', name: 'w' }],
      tool_choice: { type: 'tool', name: 'w' },
    },
    422,
    'tool_choice.name',
  ],
  [
    {
      messages: hi,
      max_tokens: 9,
      tools: [{ type: 'web_search_20250305', name: 'w' }],
      tool_choice: { type: 'any' },
    },
    422,
    'tool_choice',
  ],
  [{ messages: hi, max_tokens: 9, tools: [{ input_schema: {} }] }, 422, 'tools.0.name'],
  [{ messages: hi, max_tokens: 9, tools: [f], tool_choice: { type: 'tool' } }, 422, 'tool_choice.name'],
  [{ messages: hi, max_tokens: 9, mcp_servers: [{}] }, 422, 'mcp_servers'],
])('%j is refused with %i at %s', (body, status, path) => {
  const refused = refusal(body);
  expect(refused.status).toBe(status);
  if (path !== undefined) expect(refused.path).toBe(path);
});

test('describes faults', () => {
  const reason = (body: unknown) => {
    try {
      readMessages(bytes(body));
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('it was accepted');
  };
  expect(reason({ messages: hi })).toBe('max_tokens: is required');
  expect(reason({ messages: hi, max_tokens: 0 })).toBe('max_tokens: must be 1 or more');
  expect(reason({ messages: hi, max_tokens: 1.5 })).toBe('max_tokens: must be a whole number');
});

test('a count needs no max_tokens and sends only the prompt', () => {
  expect(readCount(bytes({ model: 'm', messages: hi, tools: [f], temperature: 1 }))).toEqual({
    model: 'm',
    messages: hi,
    tools: [chatTool],
  });
});
