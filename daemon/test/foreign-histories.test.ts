/**
 * Tool loops over a real port whose history holds what another provider, or another model, put into it: with the embedded
 * engine and with an upstream that refuses whatever a provider refuses.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TINY_REPLY, tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { CALL } from './harness/dialect-gateway.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';
import type { StandIn } from './harness/stand-in.ts';
import { dataOf, openStream } from './harness/stream.ts';
import { STRICT_ANSWER, strictUpstream } from './harness/strict-upstream.ts';

type Json = Record<string, unknown>;

let upstream: StandIn;
beforeAll(async () => {
  upstream = await strictUpstream();
});
afterAll(() => upstream.stop());

const caller = (name: string, args: Json) => tinyChat({ tool: { name, args } });
const gateway = new OneGateway(async () => {
  const started = await startLocked({
    models: {
      talker: tinyChat({ tool: CALL }),
      basher: caller('bash', { command: 'ls' }),
      sheller: caller('shell', { commands: ['ls'] }),
    },
    files: {
      'config/slots/agent.toml': 'model = "talker"\ncontext = 4096\n',
      'config/slots/bash.toml': 'model = "basher"\ncontext = 4096\n',
      'config/slots/shell.toml': 'model = "sheller"\ncontext = 4096\n',
      'config/upstreams/strict.toml': `base_url = "${upstream.url}/v1"\n`,
    },
  });
  await waitForSlotState(started, 'agent', 'ready', CLIENT_KEY);
  await until(async () => {
    const { health } = (await send(started, 'GET', '/api/upstreams/strict', { key: ADMIN_KEY })).json<Json>();
    return health === 'ok';
  }, 'the list of the upstream');
  return started;
});

const post = (path: string, body: Json, key = CLIENT_KEY) => send(gateway, 'POST', path, { key, body });

/** The targets of a chat and what each textBlock at the end of a loop. */
const TARGETS = [
  ['agent', TINY_REPLY],
  ['strict', STRICT_ANSWER],
] as const;
const PNG = 'iVBORw0KGgo=';
const parameters = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };

/** How each API begins a loop and goes on with the result of the call. */
interface Api {
  readonly path: string;
  first(history: readonly Json[], more?: Json): Json;
  next(body: Json, answer: Json): Json;
  hasCall(answer: Json): boolean;
  textOf(answer: Json): string;
}

const list = (value: unknown): Json[] => value as Json[];

const MESSAGES: Api = {
  path: '/v1/messages',
  first: (history, more) => ({
    max_tokens: 100,
    tools: [{ name: CALL.name, input_schema: parameters }],
    messages: [...history, { role: 'user', content: 'Go.' }],
    ...more,
  }),
  next: (body, { content }) => ({
    ...body,
    messages: [
      ...list(body.messages),
      { role: 'assistant', content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: list(content).at(-1)?.id, content: 'noon' }],
      },
    ],
  }),
  hasCall: ({ stop_reason }) => stop_reason === 'tool_use',
  textOf: ({ content }) => String(list(content)[0]?.text),
};

const RESPONSES: Api = {
  path: '/v1/responses',
  first: (history, more) => ({
    store: false,
    tools: [{ type: 'function', name: CALL.name, parameters }],
    input: [...history, { role: 'user', content: 'Go.' }],
    ...more,
  }),
  next: (body, { output }) => ({
    ...body,
    input: [
      ...list(body.input),
      ...list(output),
      { type: 'function_call_output', call_id: list(output).at(-1)?.call_id, output: 'noon' },
    ],
  }),
  hasCall: ({ output }) => list(output).at(-1)?.type === 'function_call',
  textOf: ({ output }) => String(list(list(output)[0]?.content)[0]?.text),
};

const CHAT: Api = {
  path: '/v1/chat/completions',
  first: (history, more) => ({
    max_tokens: 100,
    tools: [{ type: 'function', function: { name: CALL.name, parameters } }],
    messages: [...history, { role: 'user', content: 'Go.' }],
    ...more,
  }),
  next: (body, { choices }) => {
    const { message } = list(choices)[0] as { message: Json };
    const id = list(message.tool_calls)[0]?.id;
    return {
      ...body,
      messages: [...list(body.messages), message, { role: 'tool', tool_call_id: id, content: 'noon' }],
    };
  },
  hasCall: ({ choices }) => list(choices)[0]?.finish_reason === 'tool_calls',
  textOf: ({ choices }) => String((list(choices)[0]?.message as Json | undefined)?.content),
};

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const textBlock = (text: string) => [{ type: 'text', text }];
const pdf = {
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
};
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
/** A finished tool call whose result is `content`, and the answer after it. */
const readOf = (content: unknown) => [
  user('Read it.'),
  assistant([{ type: 'tool_use', id: 't1', name: 'Read', input: {} }]),
  user([{ type: 'tool_result', tool_use_id: 't1', content }]),
  assistant(textBlock('I see.')),
];
const outputOf = (output: unknown) => [
  user('Read it.'),
  { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I see.' }] },
];
const inputImage = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` };
const imageUrl = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
const chatCall = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } };
const chatRead = (content: unknown) => [
  user('Read it.'),
  { role: 'assistant', content: null, tool_calls: [chatCall] },
  { role: 'tool', tool_call_id: 'c1', content },
  assistant('I see.'),
];

/** API, what the history holds, the history, and what the header names. */
const HISTORIES: [Api, string, Json[], string | undefined][] = [
  [MESSAGES, 'a PDF that was read', readOf([pdf]), 'document (PDF)'],
  [MESSAGES, 'an image that was read', readOf([{ type: 'text', text: 'x' }, image]), 'image'],
  [MESSAGES, 'an image alone that was read', readOf([image]), 'image'],
  [
    MESSAGES,
    'a PDF in an older message',
    [user([pdf, ...textBlock('Read.')]), assistant(textBlock('No.'))],
    'document (PDF)',
  ],
  [MESSAGES, 'an image in an older message', [user([image]), assistant(textBlock('No.'))], 'image'],
  [MESSAGES, 'a tool reference', readOf([{ type: 'tool_reference', tool_name: CALL.name }]), undefined],
  [
    MESSAGES,
    'a search result',
    readOf([{ type: 'search_result', title: 'T', source: 's', content: textBlock('x') }]),
    undefined,
  ],
  [
    MESSAGES,
    'a web search',
    [
      user('Search.'),
      assistant([
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
      ]),
      user('And?'),
      assistant(textBlock('Nothing.')),
    ],
    'server_tool_use, web_search_tool_result',
  ],
  [
    MESSAGES,
    'encrypted reasoning',
    [user('x'), assistant([{ type: 'redacted_thinking', data: 'zz' }, ...textBlock('Yes.')])],
    'redacted_thinking',
  ],
  [
    MESSAGES,
    'signed reasoning',
    [user('x'), assistant([{ type: 'thinking', thinking: 'hm', signature: 'EqQB' }, ...textBlock('Yes.')])],
    'thinking.signature',
  ],
  [MESSAGES, 'a compaction', [assistant([{ type: 'compaction', content: 'Before.' }])], 'compaction'],
  [
    MESSAGES,
    'notices of the system',
    [user('x'), assistant(textBlock('Yes.')), { role: 'system', content: 'A task finished.' }],
    undefined,
  ],
  [
    RESPONSES,
    'a web search',
    [
      user('x'),
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      { type: 'message', role: 'assistant', content: 'y' },
    ],
    'web_search_call',
  ],
  [RESPONSES, 'a compaction', [{ type: 'compaction', encrypted_content: 'zz' }], 'compaction'],
  [
    RESPONSES,
    'encrypted reasoning',
    [
      user('x'),
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      { type: 'message', role: 'assistant', content: 'y' },
    ],
    'reasoning.encrypted_content',
  ],
  [
    RESPONSES,
    'a PDF that was read',
    outputOf([{ type: 'input_file', filename: 'a.pdf', file_data: 'x' }]),
    'input_file (PDF)',
  ],
  [RESPONSES, 'an image that was read', outputOf([inputImage]), 'image'],
  [
    RESPONSES,
    'an image in an older message',
    [user([inputImage]), { type: 'message', role: 'assistant', content: 'No.' }],
    'image',
  ],
  [
    RESPONSES,
    'the output of a shell',
    [
      user('x'),
      { type: 'shell_call', call_id: 'c1', action: { commands: ['ls'] } },
      {
        type: 'shell_call_output',
        call_id: 'c1',
        output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      { type: 'message', role: 'assistant', content: 'y' },
    ],
    undefined,
  ],
  [
    RESPONSES,
    'a notice of the developer between a call and its result',
    [
      user('x'),
      { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' },
      { type: 'message', role: 'developer', content: 'Sandbox: off' },
      { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      { type: 'message', role: 'assistant', content: 'y' },
    ],
    undefined,
  ],
  [CHAT, 'an image that was read', chatRead([imageUrl]), 'image_url'],
  [CHAT, 'an image in an older message', [user([imageUrl]), assistant('No.')], 'image_url'],
];

describe.each(TARGETS)('with %s a tool loop goes on after', (model, reply) => {
  it.each(
    HISTORIES.map(([api, name, history, ignored]) => [api.path, name, { api, history, ignored }] as const),
  )('%s: %s', async (path, _, { api, history, ignored }) => {
    const body = api.first(history, { model });
    const first = await post(path, body);
    expect([first.status, first.headers['x-svc-ignored']], first.text).toEqual([200, ignored]);
    expect(api.hasCall(first.json()), first.text).toBe(true);
    const second = await post(path, api.next(body, first.json()));
    expect(second.status, second.text).toBe(200);
    expect(api.textOf(second.json())).toBe(reply);
  });
});

describe.each(TARGETS)('with %s a refused file does not end the session', (model) => {
  it.each([
    [MESSAGES, pdf, 'Could not process PDF'],
    [MESSAGES, image, 'image'],
    [RESPONSES, { type: 'input_file', filename: 'a.pdf', file_data: 'x' }, 'Could not process file'],
    [RESPONSES, inputImage, 'image'],
    [CHAT, imageUrl, 'image'],
  ] as const)('%o', async (api, file, words) => {
    const field = api === RESPONSES ? 'input' : 'messages';
    const now = await post(api.path, { ...api.first([]), model, [field]: [user([file])] });
    expect([now.status, now.text]).toEqual([400, expect.stringContaining(words)]);
    // The client kept the refused message, or the turns around it.
    const later = await post(api.path, api.first([user([file]), assistant('No.')], { model }));
    expect(later.status, later.text).toBe(200);
  });
});

it('an upstream that that does not declare its modalities receives an image once', async () => {
  const body = MESSAGES.first(readOf([image]), { model: 'strict-unlisted' });
  const refused = await post(MESSAGES.path, body);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('does not support images')]);
  const again = await post(MESSAGES.path, body);
  expect([again.status, again.headers['x-svc-ignored']]).toEqual([200, 'image']);
  const vision = await post(MESSAGES.path, { ...body, model: 'strict-vision' });
  expect([vision.status, vision.headers['x-svc-ignored']]).toEqual([200, undefined]);
  expect(upstream.requests.at(-1)?.body).toContain('image_url');
});

describe.each(TARGETS)('with %s references are resolved', (model, reply) => {
  const begin = (more: Json = {}) => RESPONSES.first([], { model, store: undefined, ...more });
  const resultFor = (answer: Json) => ({
    type: 'function_call_output',
    call_id: list(answer.output).at(-1)?.call_id,
    output: 'noon',
  });

  it('by previous_response_id, for a whole loop', async () => {
    const first = (await post('/v1/responses', begin())).json<Json>();
    const next = { ...begin(), previous_response_id: first.id, input: [resultFor(first)] };
    const second = await post('/v1/responses', next);
    expect([second.status, RESPONSES.textOf(second.json())]).toEqual([200, reply]);
    const third = await post('/v1/responses', {
      ...begin(),
      previous_response_id: second.json<Json>().id,
      input: 'Again.',
    });
    expect([third.status, RESPONSES.hasCall(third.json())]).toEqual([200, true]);
  });

  it.each([false, true])('by item_reference, after a stream: %s', async (stream) => {
    const body = begin({ stream });
    let first: Json;
    if (stream && model === 'agent') {
      const { text, ended } = await openStream(gateway, '/v1/responses', body, { key: CLIENT_KEY });
      await ended;
      const last = text().trim().split('\n\n').at(-1)?.split('\ndata: ')[1] ?? '';
      first = (JSON.parse(last) as { response: Json }).response;
      expect(dataOf(text())).toEqual([]);
    } else first = (await post('/v1/responses', { ...body, stream: false })).json<Json>();
    const references = list(first.output).map(({ id }) => ({ type: 'item_reference', id }));
    const input = [...list(body.input), ...references, resultFor(first)];
    const second = await post('/v1/responses', { ...body, stream: false, input });
    expect([second.status, RESPONSES.textOf(second.json())]).toEqual([200, reply]);
    const other = await post('/v1/responses', { ...body, stream: false, input }, ADMIN_KEY);
    expect([other.status, other.code]).toEqual([400, 'request.unknown_reference']);
    expect(other.text).toContain('store: false');
  });
});

describe('tools that the client runs', () => {
  const bash = { tools: [{ type: 'bash_20250124', name: 'bash' }] };
  const shell = { tools: [{ type: 'shell', environment: { type: 'local' } }] };
  const callOf = (response: HttpResponse, field: string): Json =>
    list(response.json<Json>()[field]).at(-1) ?? {};

  it.each([
    ['bash', TINY_REPLY],
    ['strict', STRICT_ANSWER],
  ])('bash of Anthropic with %s', async (model, reply) => {
    const body = MESSAGES.first([], { model, ...bash });
    const first = await post('/v1/messages', body);
    expect(callOf(first, 'content')).toMatchObject({
      type: 'tool_use',
      name: 'bash',
      input: { command: 'ls' },
    });
    const second = await post('/v1/messages', MESSAGES.next(body, first.json()));
    expect(MESSAGES.textOf(second.json())).toBe(reply);
  });

  it.each([
    ['shell', TINY_REPLY],
    ['strict', STRICT_ANSWER],
  ])('shell of OpenAI with %s', async (model, reply) => {
    const body = RESPONSES.first([], { model, ...shell });
    const first = await post('/v1/responses', body);
    const call = callOf(first, 'output');
    expect(call).toMatchObject({
      type: 'shell_call',
      status: 'completed',
      call_id: expect.any(String),
      action: { commands: ['ls'], timeout_ms: null, max_output_length: null },
      environment: { type: 'local' },
    });
    const output = [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }];
    const result = { type: 'shell_call_output', call_id: call.call_id, output };
    const second = await post('/v1/responses', { ...body, input: [...list(body.input), call, result] });
    expect(RESPONSES.textOf(second.json())).toBe(reply);
  });

  it.each([
    ['local_shell', { type: 'local_shell_call', action: { type: 'exec', command: ['ls'], env: {} } }],
    ['apply_patch', { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a.txt' } }],
  ])('%s of OpenAI with an upstream', async (type, expected) => {
    const response = await post('/v1/responses', RESPONSES.first([], { model: 'strict', tools: [{ type }] }));
    expect(callOf(response, 'output')).toMatchObject({ ...expected, status: 'completed' });
  });
});

it('a notice of the system leaves the prompt before it in the cache of the engine', async () => {
  const long = 'word '.repeat(300);
  const messages = [user(long), assistant(textBlock('Yes.')), user('And?')];
  const body = { model: 'agent', max_tokens: 5, system: 'Be brief.', messages };
  await post('/v1/messages', body);
  const notice = { role: 'system', content: 'A background task finished.' };
  const next = await post('/v1/messages', { ...body, messages: [...messages, notice] });
  const { usage } = next.json<{ usage: { input_tokens: number; cache_read_input_tokens: number } }>();
  expect(usage.cache_read_input_tokens).toBeGreaterThan(long.length);
  expect(usage.input_tokens).toBeLessThan(300);
});
