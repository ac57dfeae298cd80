import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../contract/errors.ts';
import type { Json } from '../json.ts';
import { readResponses } from './request.ts';

const chatOf = (body: Json): Json => readResponses(Buffer.from(JSON.stringify(body))).chat;
const messagesOf = (input: unknown, more: Json = {}) => chatOf({ input, ...more }).messages;
const message = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});

function refusal(body: unknown): { status: number; code: string; path: string | undefined } {
  try {
    readResponses(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const fields = error.options.details?.fields as { path: string }[] | undefined;
    return { status: error.status, code: error.code, path: fields?.[0]?.path };
  }
  throw new Error('it was read');
}

describe('messages', () => {
  test('a string is a user message after the instructions', () => {
    expect(messagesOf('hi', { instructions: 'Be brief.' })).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ]);
  });

  test('reasoning, text and calls of one turn are one message; results are tool messages', () => {
    expect(
      messagesOf([
        { role: 'user', content: 'hi' },
        { type: 'reasoning', id: 'rs', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
        message('assistant', 'One moment.'),
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: 'x"y' },
        { type: 'function_call_output', call_id: 'a', output: 'one' },
        { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'two' }] },
        message('assistant', 'Done.'),
        message('developer', 'Go on.'),
      ]),
    ).toEqual([
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        reasoning_content: 'hm',
        content: 'One moment.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'patch', arguments: '{"input":"x\\"y"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'two' },
      { role: 'assistant', content: 'Done.' },
      { role: 'developer', content: 'Go on.' },
    ]);
  });

  test('a call alone has no text; reasoning summaries count', () => {
    expect(
      messagesOf([
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: null },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      ]),
    ).toMatchObject([{ reasoning_content: 'hm', content: null, tool_calls: [{ id: 'a' }] }]);
  });

  test('texts of a request are joined by line breaks, those of a response without', () => {
    const two = (type: string) => [
      { type, text: 'one' },
      { type, text: 'two' },
    ];
    expect(
      messagesOf([
        { role: 'developer', content: two('input_text') },
        { role: 'user', content: two('input_text') },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: two('input_text') },
        { role: 'assistant', content: two('output_text') },
      ]),
    ).toMatchObject([
      { content: 'one\ntwo' },
      { content: 'one\ntwo' },
      { role: 'assistant' },
      { role: 'tool', content: 'one\ntwo' },
      { role: 'assistant', content: 'onetwo' },
    ]);
  });

  test('images stay parts', () => {
    const content = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
    ];
    expect(messagesOf([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
        ],
      },
    ]);
  });
});

describe('tools', () => {
  const f = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true };
  const patch = { type: 'custom', name: 'patch', description: 'Edits.', format: { definition: 'start: x' } };

  test('keeps functions, converts custom tools, leaves out and names provider tools', () => {
    const hosted = { type: 'shell', environment: { type: 'container_auto' } };
    const tools = [f, patch, { type: 'web_search' }, hosted, { type: 'web_search' }];
    const request = readResponses(Buffer.from(JSON.stringify({ input: 'x', tools })));
    expect(request.chat.tools).toMatchObject([
      { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
      { function: { name: 'patch', parameters: { required: ['input'] } } },
    ]);
    expect(JSON.stringify(request.chat.tools)).toContain('start: x');
    expect(request.tools.ignored).toEqual(['web_search', 'shell']);
    expect(request.ignored.names).toEqual(['web_search', 'shell', 'tools.1.format']);
    expect([...request.tools.known.values()]).toMatchObject([{ kind: 'function' }, { kind: 'custom' }]);
  });

  test.each<[string, object, string[]]>([
    [
      'of a namespace',
      { tools: [{ type: 'namespace', name: 'n', tools: [f, patch] }] },
      ['tools.0.tools.1.format'],
    ],
    ['declared twice', { tools: [patch, patch] }, ['tools.0.format']],
    ['of free text', { tools: [{ ...patch, format: { type: 'text' } }] }, []],
    ['without a format', { tools: [{ ...patch, format: undefined }] }, []],
    ['of a function', { tools: [{ ...f, format: patch.format }] }, []],
  ])('a grammar is described to the model and named: %s', (_, body, named) => {
    const request = readResponses(Buffer.from(JSON.stringify({ input: 'x', ...body })));
    expect(request.ignored.names).toEqual(named);
  });

  test('no field remains when all tools are left out', () => {
    const chat = chatOf({ input: 'x', tools: [{ type: 'web_search' }], tool_choice: 'auto' });
    expect(chat).toEqual({ messages: [{ role: 'user', content: 'x' }] });
  });

  test.each([
    ['auto', 'auto'],
    ['required', 'required'],
    [
      { type: 'function', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
    [
      { type: 'custom', name: 'patch' },
      { type: 'function', function: { name: 'patch' } },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    ],
  ])('the choice %j', (tool_choice, expected) => {
    expect(chatOf({ input: 'x', tools: [f, patch], tool_choice }).tool_choice).toEqual(expected);
  });
});

test.each<[Json, Json]>([
  [{ max_output_tokens: 5 }, { max_tokens: 5 }],
  [
    { temperature: 0, top_p: null, seed: 3, min_p: 0.1 },
    { temperature: 0, seed: 3, min_p: 0.1 },
  ],
  [{ stream: true }, { stream: true, stream_options: { include_usage: true } }],
  [{ text: { format: { type: 'text' }, verbosity: 'low' } }, { verbosity: 'low' }],
  [{ text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
  [
    { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
      },
    },
  ],
  [{ reasoning: { effort: 'none' } }, { reasoning_effort: 'none', enable_thinking: false }],
  [{ reasoning: { effort: 'high' } }, { reasoning_effort: 'high', enable_thinking: true }],
  [
    { reasoning: { effort: 'high' }, enable_thinking: false },
    { reasoning_effort: 'high', enable_thinking: false },
  ],
  [{ reasoning: { summary: 'auto' }, store: true, metadata: { a: 'b' }, include: ['x'], user: 'me' }, {}],
])('%j becomes %j', (fields, expected) => {
  expect(chatOf({ input: 'x', ...fields })).toEqual({
    messages: [{ role: 'user', content: 'x' }],
    ...expected,
  });
});

test.each<[unknown, number, string | undefined]>([
  ['{', 400, undefined],
  ['[]', 422, ''],
  [{}, 422, 'input'],
  [{ input: 3 }, 422, 'input'],
  [{ input: [{ type: 'item_reference', id: 'x' }] }, 400, 'input.0.id'],
  [{ input: [{ role: 'robot', content: 'x' }] }, 422, 'input.0.role'],
  [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 400, 'input.0.content.0.type'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    400,
    'input.0.content.0.image_url',
  ],
  [{ input: 'x', model: 3 }, 422, 'model'],
  [{ input: 'x', tools: [{ type: 'function' }] }, 422, 'tools.0.name'],
  [{ input: 'x', tool_choice: 'maybe' }, 422, undefined],
  [{ input: 'x', tools: [], tool_choice: { type: 'web_search' } }, 422, 'tool_choice'],
  [{ input: 'x', max_output_tokens: 0 }, 422, 'max_output_tokens'],
  [{ input: 'x', previous_response_id: 'resp_1' }, 400, 'previous_response_id'],
  [{ input: 'x', conversation: 'conv_1' }, 422, 'conversation'],
  [{ input: 'x', background: true }, 422, 'background'],
  [{ input: 'x', prompt: { id: 'p' } }, 422, 'prompt'],
])('%j is refused with %i at %s', (body, status, path) => {
  const refused = refusal(body);
  expect(refused.status).toBe(status);
  if (path !== undefined) expect(refused.path).toBe(path);
});

test.each([
  [{ include: ['message.output_text.logprobs'] }, 'message.output_text.logprobs'],
  [{ top_logprobs: 3 }, 'top_logprobs'],
  [
    { include: ['message.output_text.logprobs'], top_logprobs: 1 },
    'message.output_text.logprobs, top_logprobs',
  ],
  [{ include: ['reasoning.encrypted_content'] }, undefined],
  [{ include: [], top_logprobs: 0 }, undefined],
  [{ include: null, top_logprobs: null }, undefined],
])('%j: probabilities that a response does not have are named', (more, names) => {
  const { ignored } = readResponses(Buffer.from(JSON.stringify({ input: 'x', ...more })));
  expect(ignored.header()['x-svc-ignored']).toBe(names);
});
