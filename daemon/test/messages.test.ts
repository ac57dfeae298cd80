/** `POST /v1/messages` over a real port: the official Anthropic client and what Claude Code sends, against real llama.cpp. */
import Anthropic, { AuthenticationError, BadRequestError, NotFoundError } from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { AGENT_WINDOW, ANSWER, CALL, startDialects, THOUGHTS } from './harness/dialect-gateway.ts';
import { failure } from './harness/failure.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openStream } from './harness/stream.ts';

let anthropic: Anthropic;

const client = (options: ConstructorParameters<typeof Anthropic>[0]) =>
  new Anthropic({ apiKey: null, authToken: null, baseURL: gateway.url, maxRetries: 0, ...options });

const gateway = new OneGateway(startDialects);
beforeAll(async () => {
  anthropic = client({ authToken: CLIENT_KEY });
});

const hi = [{ role: 'user' as const, content: 'Hello!' }];
const TOOL = {
  name: CALL.name,
  description: 'Tells the time.',
  input_schema: {
    type: 'object' as const,
    properties: { zone: { type: 'string', maxLength: 40 } },
    required: ['zone'],
  },
};

describe('messages.create', () => {
  it('a text, its stop reason and its token counts', async () => {
    const response = await anthropic.messages.create({ model: 'agent', max_tokens: 100, messages: hi });
    expect(response).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'talker',
      content: [{ type: 'text', text: TINY_REPLY }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
    expect(response.id).toMatch(/^msg_/);
    const { input_tokens, cache_read_input_tokens, output_tokens } = response.usage;
    expect(input_tokens + (cache_read_input_tokens ?? 0)).toBeGreaterThan('Hello!'.length);
    expect(output_tokens).toBeGreaterThan(0);
  });

  it('a truncated reply has stop reason max_tokens', async () => {
    const response = await anthropic.messages.create({ model: 'agent', max_tokens: 2, messages: hi });
    expect(response.stop_reason).toBe('max_tokens');
  });

  it('a stop sequence has its own stop reason, plain and streamed', async () => {
    const body = { model: 'agent', max_tokens: 100, messages: hi, stop_sequences: ['tiny'] };
    const end = { stop_reason: 'stop_sequence', stop_sequence: 'tiny' };
    expect(await anthropic.messages.create(body)).toMatchObject(end);
    expect(await anthropic.messages.stream(body).finalMessage()).toMatchObject(end);
  });

  it('reasoning is a separate block, plain and streamed', async () => {
    const content = [
      { type: 'thinking', thinking: THOUGHTS, signature: '' },
      { type: 'text', text: ANSWER },
    ];
    const body = { model: 'thinker', max_tokens: 100, messages: hi };
    expect((await anthropic.messages.create(body)).content).toMatchObject(content);
    expect((await anthropic.messages.stream(body).finalMessage()).content).toMatchObject(content);
  });

  it('a call, and the turn after it', async () => {
    const body = { model: 'agent', max_tokens: 100, tools: [TOOL] };
    const first = await anthropic.messages.create({ ...body, messages: hi });
    const use = first.content[0];
    if (use?.type !== 'tool_use') throw new Error('there is no call');
    expect(first.stop_reason).toBe('tool_use');
    expect([use.name, use.input]).toEqual([CALL.name, CALL.args]);
    const result = { type: 'tool_result' as const, tool_use_id: use.id, content: 'noon' };
    const second = await anthropic.messages.create({
      ...body,
      messages: [...hi, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
    });
    expect(second.content).toMatchObject([{ type: 'text', text: TINY_REPLY }]);
  });

  it('a required call', async () => {
    const response = await anthropic.messages.create({
      model: 'agent',
      max_tokens: 200,
      messages: hi,
      tools: [TOOL],
      tool_choice: { type: 'tool', name: CALL.name },
    });
    expect(response.content).toMatchObject([
      { type: 'tool_use', name: CALL.name, input: { zone: expect.any(String) } },
    ]);
  });
});

describe('messages.stream', () => {
  it('text in pieces, counts at the end', async () => {
    const stream = anthropic.messages.stream({ model: 'agent', max_tokens: 100, messages: hi });
    const pieces: string[] = [];
    stream.on('text', (text) => pieces.push(text));
    const message = await stream.finalMessage();
    expect([pieces.join(''), pieces.length > 1]).toEqual([TINY_REPLY, true]);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    const { input_tokens, cache_read_input_tokens } = message.usage;
    expect(input_tokens + (cache_read_input_tokens ?? 0)).toBeGreaterThan('Hello!'.length);
  });

  it('a call is assembled', async () => {
    const stream = anthropic.messages.stream({
      model: 'agent',
      max_tokens: 100,
      messages: hi,
      tools: [TOOL],
    });
    const message = await stream.finalMessage();
    expect(message).toMatchObject({
      content: [{ type: 'tool_use', name: CALL.name, input: CALL.args }],
      stop_reason: 'tool_use',
    });
  });

  it('events are in order, each under its name', async () => {
    const body = { model: 'agent', max_tokens: 100, messages: hi, stream: true };
    const stream = await openStream(gateway, '/v1/messages?beta=true', body, { key: CLIENT_KEY });
    expect(await stream.ended).toBe(true);
    const names = [...stream.text().matchAll(/^event: (\w+)\ndata: \{"type":"(\w+)"/gm)].map(
      ([, name, type]) => {
        expect(name).toBe(type);
        return name;
      },
    );
    expect([...new Set(names)]).toEqual([
      ...['message_start', 'ping', 'content_block_start', 'content_block_delta'],
      ...['content_block_stop', 'message_delta', 'message_stop'],
    ]);
  });
});

describe('messages.countTokens', () => {
  it('returns the input tokens of the later response, including tools and system prompt', async () => {
    const prompt = { model: 'agent', system: 'Be brief.', messages: hi, tools: [TOOL] };
    const { input_tokens } = await anthropic.messages.countTokens(prompt);
    const { usage } = await anthropic.messages.create({ ...prompt, max_tokens: 1 });
    expect(input_tokens).toBe(usage.input_tokens + (usage.cache_read_input_tokens ?? 0));
    const without = await anthropic.messages.countTokens({ model: 'agent', messages: hi });
    expect(without.input_tokens).toBeLessThan(input_tokens);
  });

  it('counts a prompt that is longer than the window', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(AGENT_WINDOW * 2) }];
    const { input_tokens } = await anthropic.messages.countTokens({ model: 'agent', messages });
    expect(input_tokens).toBeGreaterThan(AGENT_WINDOW * 2);
  });
});

describe('what Claude Code sends', () => {
  const request = {
    model: 'agent',
    max_tokens: 32_000,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=0a1b2;' },
      { type: 'text', text: 'You are a coding agent.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>Today is Monday.</system-reminder>' },
          { type: 'text', text: 'List files', cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
    tools: [
      { ...TOOL, input_schema: { $schema: 'http://json-schema.org/draft-07/schema#', ...TOOL.input_schema } },
    ],
    metadata: { user_id: 'user_x_account__session_y' },
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'medium' },
    stream: true,
  };
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
    'x-app': 'cli',
    'x-stainless-lang': 'js',
  };

  it('gets a response', async () => {
    const stream = await openStream(gateway, '/v1/messages?beta=true', request, { key: CLIENT_KEY, headers });
    expect(await stream.ended).toBe(true);
    expect(stream.status).toBe(200);
    expect(stream.text()).toContain('"stop_reason":"tool_use"');
  });

  it('without its billing line', async () => {
    const count = async (system: object[]) => {
      const body = { ...request, system };
      const response = await send(gateway, 'POST', '/v1/messages/count_tokens?beta=true', {
        key: CLIENT_KEY,
        body,
      });
      return response.json<{ input_tokens: number }>().input_tokens;
    };
    expect(await count(request.system)).toBe(await count(request.system.slice(1)));
  });
});

describe('errors', () => {
  it.each<[string, object, number, string]>([
    ['an unknown model', { model: 'no-such-model', max_tokens: 9, messages: hi }, 404, 'dispatch.no_route'],
    ['no messages', { model: 'agent', max_tokens: 9 }, 422, 'request.invalid'],
    ['no limit', { model: 'agent', messages: hi }, 422, 'request.invalid'],
    [
      'a required tool of Anthropic',
      {
        model: 'agent',
        max_tokens: 9,
        messages: hi,
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'any' },
      },
      422,
      'request.invalid',
    ],
    [
      'an image for a model that reads text only',
      {
        model: 'agent',
        max_tokens: 9,
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
          },
        ],
      },
      400,
      'request.invalid',
    ],
  ])('%s', async (_, body, status, code) => {
    const response = await send(gateway, 'POST', '/v1/messages', { key: CLIENT_KEY, body });
    expect([response.status, response.code]).toEqual([status, code]);
    expect(response.json()).toMatchObject({
      type: 'error',
      error: { type: expect.any(String), message: expect.any(String) },
    });
  });

  it('the client throws its own classes with our messages', async () => {
    const body = { max_tokens: 9, messages: hi };
    const unknown = await failure(
      anthropic.messages.create({ model: 'no-such-model', ...body }),
      NotFoundError,
    );
    expect(unknown).toMatchObject({ status: 404, type: 'not_found_error' });
    expect(unknown.message).toContain('no-such-model');
    expect(unknown.requestID ?? unknown.headers?.get('x-request-id')).toBeTruthy();
  });

  it('a prompt that is too long has the message that agents expect, with the numbers', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(AGENT_WINDOW) }];
    for (const stream of [false, true]) {
      const call = anthropic.messages.create({ model: 'agent', max_tokens: 9, messages, stream });
      const error = await failure(call, BadRequestError);
      expect(error.message).toMatch(/prompt is too long: .*2048 tokens/);
    }
  });

  it('x-api-key is a credential here, and elsewhere the error names the right header', async () => {
    const body = { model: 'agent', max_tokens: 9, messages: hi };
    const headers = { 'x-api-key': CLIENT_KEY };
    expect((await send(gateway, 'POST', '/v1/messages', { headers, body })).status).toBe(200);
    const response = await send(gateway, 'POST', '/v1/chat/completions', { headers, body });
    expect([response.status, response.code]).toEqual([401, 'auth.required']);
    expect(response.json()).toMatchObject({
      error: { type: 'authentication_error', message: expect.stringContaining('Authorization: Bearer') },
    });
    await failure(client({ authToken: 'wrong' }).messages.create(body), AuthenticationError);
  });
});
