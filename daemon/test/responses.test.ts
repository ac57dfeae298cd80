/** `POST /v1/responses` over a real port: the official `openai` client and what Codex sends, against real llama.cpp. */
import type OpenAI from 'openai';
import { AuthenticationError, BadRequestError, NotFoundError, UnprocessableEntityError } from 'openai';
import type { ResponseInput, Tool } from 'openai/resources/responses/responses';
import { beforeAll, describe, expect, it } from 'vitest';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { codexRequest } from './harness/codex-request.ts';
import {
  AGENT_WINDOW,
  ANSWER,
  CALL,
  responseEvents,
  startDialects,
  THOUGHTS,
} from './harness/dialect-gateway.ts';
import { failure } from './harness/failure.ts';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openaiClient } from './harness/openai.ts';
import { dataOf, openStream } from './harness/stream.ts';
import { breaches } from './openai-schemas/validate.ts';

let openai: OpenAI;

const gateway = new OneGateway(startDialects);
beforeAll(async () => {
  openai = openaiClient(gateway);
});

const TOOL: Tool = {
  type: 'function',
  name: CALL.name,
  description: 'Tells the time.',
  parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  strict: false,
};
const post = (body: object) => send(gateway, 'POST', '/v1/responses', { key: CLIENT_KEY, body });
const events = (body: object) => responseEvents(gateway, body);

describe('responses.create', () => {
  it('a text, its token counts, and the echoed parameters', async () => {
    const response = await openai.responses.create({
      model: 'agent',
      instructions: 'Be brief.',
      input: 'Hello!',
      temperature: 0,
      metadata: { trip: '7' },
      store: true,
    });
    expect(response.output_text).toBe(TINY_REPLY);
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'talker',
      store: false,
      instructions: 'Be brief.',
      metadata: { trip: '7' },
    });
    const { input_tokens = 0, output_tokens = 0, total_tokens } = response.usage ?? {};
    expect(input_tokens).toBeGreaterThan('Hello!'.length);
    expect(total_tokens).toBe(input_tokens + output_tokens);
  });

  it('reasoning is a separate item', async () => {
    const { output } = await openai.responses.create({ model: 'thinker', input: 'When?' });
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: THOUGHTS }] },
      { type: 'message', content: [{ type: 'output_text', text: ANSWER }] },
    ]);
  });

  it('reasoning is also a summary when the caller requests one', async () => {
    const body = { model: 'thinker', input: 'When?', reasoning: { summary: 'auto' as const } };
    const { output, reasoning } = await openai.responses.create(body);
    const summary = [{ type: 'summary_text', text: THOUGHTS }];
    expect(output[0]).toMatchObject({ type: 'reasoning', summary, content: [{ text: THOUGHTS }] });
    expect(reasoning).toEqual({ effort: null, summary: 'auto' });
    const all = await events(body);
    const types = all.map(({ type }) => type).filter((type) => type.includes('summary'));
    expect([...new Set(types)]).toEqual([
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
    ]);
    const deltas = all.flatMap((event) =>
      event.type === 'response.reasoning_summary_text.delta' ? [event.delta] : [],
    );
    expect(deltas.join('')).toBe(THOUGHTS);
    const items = all.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
    expect(items[0]).toMatchObject({ type: 'reasoning', summary });
  });

  it('a truncated response is incomplete', async () => {
    const response = await openai.responses.create({ model: 'agent', input: 'x', max_output_tokens: 2 });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it('the output follows a schema', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const response = await openai.responses.create({
      model: 'agent',
      input: 'x',
      text: { format: { type: 'json_schema', name: 'a', schema, strict: true } },
    });
    expect(JSON.parse(response.output_text)).toEqual({ a: expect.any(String) });
  });

  it('without a model slot agent is used', async () => {
    expect((await openai.responses.create({ input: 'x' })).output_text).toBe(TINY_REPLY);
  });

  it('a call, and the turn after it, plain and streamed', async () => {
    const input: ResponseInput = [{ role: 'user', content: 'What time is it?' }];
    const first = await openai.responses.create({ model: 'agent', input, tools: [TOOL] });
    const call = first.output[0];
    if (call?.type !== 'function_call') throw new Error('there is no call');
    expect([call.name, JSON.parse(call.arguments)]).toEqual([CALL.name, CALL.args]);
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'noon' };
    const next = [...input, ...first.output, output] as ResponseInput;
    const second = await openai.responses.create({ model: 'agent', input: next, tools: [TOOL] });
    expect(second.output_text).toBe(TINY_REPLY);
    const runner = openai.responses.stream({ model: 'agent', input, tools: [TOOL] });
    const final = await runner.finalResponse();
    expect(final.output).toMatchObject([{ type: 'function_call', arguments: JSON.stringify(CALL.args) }]);
  });
});

describe('streams', () => {
  it('the stream() helper assembles the whole response', async () => {
    const runner = openai.responses.stream({ model: 'agent', input: 'x' });
    let text = '';
    runner.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    const final = await runner.finalResponse();
    expect([text, final.output_text]).toEqual([TINY_REPLY, TINY_REPLY]);
    expect(final.usage?.output_tokens).toBeGreaterThan(0);
  });

  const patch = { type: 'custom', name: 'apply_patch', description: 'Edits files.' };
  it.each([
    ['text', { model: 'agent', input: 'x' }],
    ['thoughts', { model: 'thinker', input: 'x' }],
    ['a call', { model: 'agent', input: 'x', tools: [TOOL] }],
    [
      'free text',
      { model: 'agent', input: 'x', tools: [patch], tool_choice: { type: 'custom', name: 'apply_patch' } },
    ],
    ['a cut', { model: 'agent', input: 'x', max_output_tokens: 2 }],
  ])(
    '%s: every event matches the published schema, numbers have no gap, and the last event repeats the items',
    async (_, body) => {
      const received = await events(body);
      for (const event of received)
        expect(breaches('ResponseStreamEvent', event), JSON.stringify(event)).toEqual([]);
      expect(received.map(({ sequence_number }) => sequence_number)).toEqual(
        received.map((_event, at) => at),
      );
      const items = received.flatMap((event) =>
        event.type === 'response.output_item.done' ? [event.item] : [],
      );
      const last = received.at(-1);
      if (last?.type !== 'response.completed' && last?.type !== 'response.incomplete')
        throw new Error(`it ended with ${last?.type}`);
      expect(last.response.output).toEqual(items);
      expect(items.length).toBeGreaterThan(0);
      expect(last.response.usage?.total_tokens).toBeGreaterThan(0);
    },
  );
});

describe('whole responses match the published schema', () => {
  it.each([
    ['text', { model: 'agent', input: 'x', instructions: 'Be brief.', temperature: 0, metadata: { a: 'b' } }],
    ['thoughts', { model: 'thinker', input: 'x', reasoning: { effort: 'low' } }],
    ['a summary', { model: 'thinker', input: 'x', reasoning: { summary: 'detailed' } }],
    ['a call', { model: 'agent', input: 'x', tools: [TOOL], tool_choice: 'auto' }],
    ['a cut', { model: 'agent', input: 'x', max_output_tokens: 2 }],
    [
      'a schema',
      {
        model: 'agent',
        input: 'x',
        text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
      },
    ],
  ])('%s', async (_, body) => {
    const response = await post(body);
    expect(breaches('Response', response.json()), response.text).toEqual([]);
  });

  it('an error', async () => {
    const response = await post({ model: 'no-such-model', input: 'x' });
    expect(response.status).toBe(404);
    expect(breaches('ErrorResponse', response.json())).toEqual([]);
  });
});

describe('what Codex sends', () => {
  const request = codexRequest(TOOL);

  it('gets a response; tools of a provider are omitted and named', async () => {
    const stream = await openStream(gateway, '/v1/responses', request, {
      key: CLIENT_KEY,
      headers: { accept: 'text/event-stream', originator: 'codex_cli_rs', session_id: '019a' },
    });
    expect(await stream.ended).toBe(true);
    expect([stream.status, stream.headers['x-svc-ignored-tools']]).toEqual([200, 'web_search']);
    expect(stream.text()).toContain('event: response.completed');
  });

  it('in the form for models that it knows: all tools in an item, each in a namespace', async () => {
    const { tools, instructions, ...rest } = request;
    const namespace = {
      type: 'namespace',
      name: 'functions',
      description: 'Tools.',
      tools: tools.slice(0, 2),
    };
    const clock = { type: 'namespace', name: 'mcp__clock', description: 'Times.', tools: [TOOL] };
    const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: {} };
    const added = { type: 'additional_tools', role: 'developer', tools: [namespace, clock, search] };
    const words = {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: instructions }],
    };
    const input = [added, words, ...rest.input];
    const called = { type: 'function_call', name: CALL.name, namespace: 'functions' };
    expect((await events({ ...rest, input })).at(-1)).toMatchObject({ response: { output: [called] } });
    const found = {
      type: 'tool_search_output',
      call_id: 's',
      status: 'completed',
      execution: 'client',
      tools: [clock],
    };
    const turns = [
      { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'time' } },
      found,
      { type: 'function_call', name: CALL.name, namespace: 'mcp__clock', arguments: '{}', call_id: 'c' },
      { type: 'function_call_output', call_id: 'c', output: 'noon' },
    ];
    const received = await events({ ...rest, input: [...input, ...turns] });
    expect(JSON.stringify(received.at(-1))).toContain(TINY_REPLY);
  });

  it('and its next turn, with the earlier output', async () => {
    const history = [
      ...request.input,
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'hm' }],
        encrypted_content: null,
      },
      { type: 'function_call', name: CALL.name, arguments: '{"zone":"UTC"}', call_id: 'call_1' },
      {
        type: 'function_call_output',
        call_id: 'call_1',
        output: '{"output":"noon","metadata":{"exit_code":0}}',
      },
    ];
    const received = await events({ ...request, input: history });
    expect(received.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(JSON.stringify(received.at(-1))).toContain(TINY_REPLY);
  });
});

describe('errors', () => {
  it('a reference to unknown output is a BadRequestError with advice', async () => {
    const error = await failure(
      openai.responses.create({ model: 'agent', input: 'x', previous_response_id: 'resp_1' }),
      BadRequestError,
    );
    expect(error).toMatchObject({ code: 'request.unknown_reference', param: 'previous_response_id' });
    expect(error.message).toContain('send the whole conversation as input, with store: false');
  });

  it('stored responses do not exist', async () => {
    const error = await failure(
      openaiClient(gateway, { apiKey: ADMIN_KEY }).responses.retrieve('resp_1'),
      NotFoundError,
    );
    expect(error.code).toBe('route.not_found');
  });

  it('a wrong key, a wrong model, a wrong shape, a prompt that is too long', async () => {
    const keyless = openaiClient(gateway, { apiKey: 'wrong' });
    await failure(keyless.responses.create({ model: 'agent', input: 'x' }), AuthenticationError);
    await failure(openai.responses.create({ model: 'no-such-model', input: 'x' }), NotFoundError);
    await failure(openai.responses.create({ model: 'agent', input: 3 as never }), UnprocessableEntityError);
    const long = openai.responses.create({ model: 'agent', input: 'x'.repeat(AGENT_WINDOW), stream: true });
    expect((await failure(long, BadRequestError)).code).toBe('context_length_exceeded');
  });

  it('an image for a model that reads text only', async () => {
    const content = [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }];
    const response = await post({ model: 'agent', input: [{ role: 'user', content }] });
    expect([response.status, response.code]).toEqual([400, 'request.invalid']);
    expect(response.text).toContain('reads text only');
  });

  it('invalid bodies', async () => {
    for (const body of ['', '{', '[]', 'null', '"x"', `${'['.repeat(80)}`]) {
      const response = await send(gateway, 'POST', '/v1/responses', {
        key: CLIENT_KEY,
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect([400, 422]).toContain(response.status);
      expect(response.code).toMatch(/^request\.invalid/);
    }
  });
});

it('streams have no unnamed events', async () => {
  const stream = await openStream(
    gateway,
    '/v1/responses',
    { input: 'x', stream: true },
    { key: CLIENT_KEY },
  );
  await stream.ended;
  expect(dataOf(stream.text())).toEqual([]);
  expect(stream.headers['content-type']).toBe('text/event-stream');
});

describe('unsupported routes of OpenAI', () => {
  it.each([
    ...['images/edits', 'images/variations', 'audio/translations', 'moderations', 'assistants', 'threads'],
    ...['files', 'fine_tuning/jobs', 'batches'],
  ])('POST and GET /v1/%s', async (path) => {
    for (const method of ['POST', 'GET']) {
      const body = method === 'POST' ? {} : undefined;
      const admin = await send(gateway, method, `/v1/${path}`, { key: ADMIN_KEY, body });
      expect([admin.status, admin.code]).toEqual([404, 'route.not_found']);
      expect((await send(gateway, method, `/v1/${path}`, { key: CLIENT_KEY, body })).status).toBe(403);
    }
  });
});
