import { expect, test } from 'vitest';
import { chatRequest } from './chat-request.ts';

const chat = (extra: object) => chatRequest({ messages: [{ role: 'user', content: 'hi' }], ...extra });

test("uses llama-server's defaults", () => {
  expect(chat({})).toMatchObject({
    stream: false,
    includeUsage: false,
    tools: null,
    generation: {
      maxTokens: null,
      stops: [],
      sampling: { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05, seed: null, repeatPenalty: 1 },
    },
  });
});

test('treats null as absent', () => {
  const fields = [
    'temperature',
    'stop',
    'max_tokens',
    'tools',
    'seed',
    'stream',
    'stream_options',
    'response_format',
  ];
  const nulls = Object.fromEntries(fields.map((field) => [field, null]));
  expect(chat(nulls)).toEqual(chat({}));
});

test.each([
  [{ max_tokens: 5 }, 5],
  [{ max_completion_tokens: 6, max_tokens: 5 }, 6],
  [{ max_tokens: 0 }, 0],
  [{ max_tokens: -1 }, null],
  [{ n_predict: 4 }, 4],
])('%j limits to %s tokens', (extra, expected) => {
  expect(chat(extra).generation.maxTokens).toBe(expected);
});

test.each([
  [7, 7],
  [-1, null],
  [-2, 2 ** 32 - 2],
  [2 ** 40 + 3, 3],
  [1.5, 1],
])('the seed %s becomes %s', (seed, expected) => {
  expect(chat({ seed }).generation.sampling.seed).toBe(expected);
});

test('parses stop strings to a list without empty ones', () => {
  expect(chat({ stop: 'x' }).generation.stops).toEqual(['x']);
  expect(chat({ stop: ['x', '', 'y'] }).generation.stops).toEqual(['x', 'y']);
});

test('accepts unknown fields and supported values of unsupported fields', () => {
  expect(() =>
    chat({ user: 'me', n: 1, logprobs: false, response_format: { type: 'text' }, reasoning_effort: 'low' }),
  ).not.toThrow();
});

test.each([
  [{ temperature: -1 }, 'temperature'],
  [{ top_p: 2 }, 'top_p'],
  [{ max_tokens: 'many' }, 'max_tokens'],
  [{ stop: new Array(100).fill('x') }, 'stop'],
  [{ stream: 'yes' }, 'stream'],
  [{ n: 0 }, 'n'],
  [{ n: 1000 }, 'n'],
  [{ top_logprobs: 3 }, 'top_logprobs'],
  [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
  [{ logprobs: 3 }, 'logprobs'],
  [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
  [{ tools: [{ type: 'custom', custom: {} }] }, 'tools.0.custom.name'],
  [{ tools: [{ type: 'custom' }] }, 'tools.0.custom.name'],
  [{ tools: [{ type: 'custom', custom: { name: '' } }] }, 'tools.0.custom.name'],
  [{ tools: [{ type: 'custom', custom: { name: 5 } }] }, 'tools.0.custom.name'],
  [
    {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', custom: { name: 'x'.repeat(257) } },
      ],
    },
    'tools.1.custom.name',
  ],
  [{ tools: [{ type: 'custom', custom: { name: 'c' } }, { type: 'function' }] }, 'tools.1.function'],
  [{ functions: [{}] }, 'functions.0.name'],
  [{ functions: 'f' }, 'functions'],
  [{ functions: [{ name: 'f' }], function_call: 'required' }, 'function_call'],
  [{ functions: [{ name: 'f' }], function_call: { name: 'g' } }, 'function_call'],
  [{ function_call: { name: 'f' } }, 'function_call'],
  [{ functions: [{ name: 'f' }], tools: [{ type: 'function', function: { name: 'f' } }] }, 'functions'],
  [{ grammar: 'root ::= "a"', tools: [{ type: 'function', function: { name: 'f' } }] }, 'grammar'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
  [{ messages: [{ content: 'x' }] }, 'messages.0.role'],
  [{ messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
  [{ messages: 'x' }, 'messages'],
])('refuses %j and names the field', (extra, param) => {
  expect(() => chat(extra)).toThrow(expect.objectContaining({ status: 422, param }));
});

test.each([null, 'text', 5, []])('refuses the body %j as no object', (body) => {
  expect(() => chatRequest(body)).toThrow('the body must be a JSON object');
});

test('joins parts with line breaks, maps developer to system, and keeps other fields', () => {
  const { messages } = chatRequest({
    messages: [
      {
        role: 'developer',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ],
  });
  expect(messages).toEqual([
    { role: 'system', content: 'a\nb' },
    { role: 'assistant', content: '' },
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
  ]);
});

test.each([
  [[{ type: 'text', text: null }], ''],
  [[{ type: 'text' }], ''],
  [
    [
      { type: 'text', text: null },
      { type: 'text', text: 'a' },
    ],
    'a',
  ],
  [[{ type: 'output_text', text: null }], ''],
  [[{ type: 'input_text', text: 'a' }], 'a'],
  [[], ''],
  [null, ''],
])('reads the content %j as the text %j', (content, text) => {
  expect(chatRequest({ messages: [{ role: 'user', content }] }).messages).toEqual([
    { role: 'user', content: text },
  ]);
});

const toolTurn = (id: string, name: string, args: unknown, result: string) => [
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
  },
  { role: 'tool', tool_call_id: id, content: result, ...(id === 'c' ? {} : { name }) },
];

test.each<[string, object[], object[]]>([
  [
    'function_call',
    [
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
      { role: 'function', name: 'f', content: 'ok' },
    ],
    toolTurn('call_0', 'f', '{"a":1}', 'ok'),
  ],
  [
    'function_call without arguments',
    [
      { role: 'assistant', function_call: { name: 'f' } },
      { role: 'function', name: 'f', content: 'ok' },
    ],
    toolTurn('call_0', 'f', {}, 'ok'),
  ],
  [
    'function_call null',
    [{ role: 'assistant', content: 'a', function_call: null }],
    [{ role: 'assistant', content: 'a' }],
  ],
  [
    'two function_calls',
    [
      { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: '1' },
      { role: 'assistant', function_call: { name: 'g', arguments: '{}' } },
      { role: 'function', name: 'g', content: '2' },
    ],
    [...toolTurn('call_0', 'f', '{}', '1'), ...toolTurn('call_2', 'g', '{}', '2')],
  ],
  [
    'a custom call',
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ],
    toolTurn('c', 'f', { input: 'x' }, 'ok'),
  ],
  [
    'a custom call without input',
    [
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ],
    toolTurn('c', 'f', { input: '' }, 'ok'),
  ],
])('reads %s in the history as a tool call', (_, messages, expected) => {
  expect(chatRequest({ messages }).messages).toEqual(expected);
});

test("uses a refusal in the history as the assistant's text", () => {
  const messagesOf = (content: object[]) =>
    chatRequest({ messages: [{ role: 'assistant', content }] }).messages;
  expect(messagesOf([{ type: 'refusal', refusal: 'I cannot.' }])).toEqual([
    { role: 'assistant', content: 'I cannot.' },
  ]);
  for (const refusal of [undefined, null])
    expect(() => messagesOf([{ type: 'refusal', refusal }])).toThrow('not parts of type "refusal"');
});

test('returns probabilities when requested', () => {
  expect(chat({}).generation.logprobs).toBeNull();
  expect(chat({ logprobs: true }).generation.logprobs).toBe(0);
  expect(chat({ logprobs: true, top_logprobs: 5 }).generation.logprobs).toBe(5);
  expect(chat({ logprobs: false, top_logprobs: 0 }).generation.logprobs).toBeNull();
});
