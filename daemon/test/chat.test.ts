/** docs/spec/specification.md#chat-deviations on the wire, with real llama.cpp. */
import { describe, expect, it } from 'vitest';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { until } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot, waitForIdleSlot } from './harness/slots.ts';
import { contentOf, dataOf, openStream } from './harness/stream.ts';
import { startTiny, WINDOW } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';

const gateway = new OneGateway(() =>
  startTiny({
    files: {
      'config/slots/utility.toml': 'model = "tiny"\ncontext = 4096\nenable_thinking = false\n',
      'config/slots/resting.toml': 'model = "tiny"\nenabled = false\n',
      'config/slots/hollow.toml': 'model = "not-here"\n',
    },
  }),
);

interface Completion {
  model: string;
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const user = (content: unknown) => ({ role: 'user', content });
const post = (body: unknown, headers: Record<string, string> = {}) =>
  send(gateway, 'POST', CHAT, { body, headers });

/** Sends a chat with the prompt `x`, greedy and two tokens long unless `body` overrides it. */
async function complete(
  body: object,
): Promise<{ text: string; response: HttpResponse; completion: Completion }> {
  const response = await post({ messages: [user('x')], temperature: 0, max_tokens: 2, ...body });
  expect(response.status, response.text).toBe(200);
  const completion = response.json<Completion & Record<string, unknown>>();
  return { text: completion.choices[0]?.message.content ?? '', response, completion };
}

describe('deviations 2 and 4: aliases and virtual names', () => {
  it.each(['agent', 'agent-hermes', 'svc/agent', 'tiny'])(
    '%s reaches slot agent, and the headers name it',
    async (model) => {
      const { text, response, completion } = await complete({ model });
      expect(text).toBe('yz');
      expect(completion.model).toBe('tiny');
      expect(response.headers).toMatchObject({
        'x-svc-slot': 'agent',
        'x-svc-step': 'loaded-slot',
        'x-svc-model': 'tiny',
      });
      expect(Number(response.headers['x-svc-overhead-ms'])).toBeGreaterThanOrEqual(0);
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(response.headers).not.toHaveProperty('x-svc-upstream');
    },
  );

  it('deviation 7: an alias of a slot that is not loaded loads it under its own settings', async () => {
    const { response } = await complete({ model: 'utility' });
    expect(response.headers).toMatchObject({ 'x-svc-slot': 'utility', 'x-svc-step': 'registry' });
    expect(await slot(gateway, 'utility')).toMatchObject({ state: 'ready', context: 4096 });
  });

  it('a lane pin selects the named slot although two share the model; virtual names follow their chains', async () => {
    for (const [model, lane] of [
      ['agent', 'agent'],
      ['utility', 'utility'],
      ['svc/agent', 'agent'],
      ['svc/utility', 'utility'],
      ['svc/npu', 'utility'],
    ]) {
      expect((await complete({ model })).response.headers['x-svc-slot'], model).toBe(lane);
    }
  });

  it('a model that is omitted means agent', async () => {
    expect((await complete({})).response.headers['x-svc-slot']).toBe('agent');
  });

  it.each([
    ['agnet', ['agent']],
    ['svc/agnt', ['svc/agent']],
    ['resting', []],
    ['svc/resting', []],
    ['an-unknown-model', []],
  ])('%s is 404 dispatch.no_route with an array of near names', async (model, near) => {
    const response = await post({ model, messages: [user('x')] });
    expect(response).toMatchObject({ status: 404, code: 'dispatch.no_route' });
    const { error } = response.json<{
      error: { details: { suggestions: string[] }; param: string; type: string };
    }>();
    expect(error).toMatchObject({ param: 'model', type: 'invalid_request_error' });
    expect(error.details.suggestions).toEqual(expect.arrayContaining(near));
    expect(error.details.suggestions).not.toContain('resting');
  });

  it('a slot without its model is 409 slot.failed, marked as not worth a retry', async () => {
    const response = await post({ model: 'hollow', messages: [user('x')] });
    expect(response).toMatchObject({ status: 409, code: 'slot.failed' });
    expect(response.headers['x-should-retry']).toBe('false');
    expect(response.headers).not.toHaveProperty('retry-after');
    expect(response.json<{ error: { details: { reason: string } } }>().error.details.reason).toContain(
      'not-here',
    );
  });
});

describe('deviation 1: omni', () => {
  it('B10 only the boolean true enables it, and the engine never receives the field', async () => {
    expect((await complete({ omni: true })).response.headers['x-svc-omni']).toBe('on');
    for (const omni of [false, 'true', 1, null]) {
      const { text, response } = await complete({ omni });
      expect(text).toBe('yz');
      expect(response.headers, String(omni)).not.toHaveProperty('x-svc-omni');
    }
  });
});

describe('deviation 6: system messages', () => {
  const system = (content: unknown, role = 'system') => ({ role, content });
  it.each([
    ['a single one is moved to the front', [user('5'), system('a')], '67'],
    ['several are merged in front', [system('a'), user('5'), system('b'), system('c', 'developer')], '67'],
    [
      'content parts are merged with strings',
      [user('5'), system([{ type: 'text', text: 'a' }]), system('b')],
      '67',
    ],
    ['without one the order stays', [user('5'), user('a')], 'bc'],
  ])('%s', async (_, messages, expected) => {
    expect((await complete({ messages })).text).toBe(expected);
  });

  it('merged texts are separated by an empty line', async () => {
    const { completion } = await complete({ messages: [system('a'), user('5'), system('b')] });
    expect(completion.usage.prompt_tokens).toBe('a\n\nb5'.length);
  });
});

describe('deviation 5: thinking', () => {
  it.each([
    ['on by the caller', { enable_thinking: true }, '67'],
    ['off by the caller', { enable_thinking: false }, '23'],
    [
      'chat_template_kwargs wins',
      { enable_thinking: true, chat_template_kwargs: { enable_thinking: false } },
      '23',
    ],
    ['other keys of chat_template_kwargs stay', { chat_template_kwargs: { other: 1 } }, 'yz'],
    ['no switch, no default of slot or model', {}, 'yz'],
    ['no switch, off in the slot file', { model: 'utility' }, '23'],
    ['the caller overrides the slot file', { model: 'utility', enable_thinking: true }, '67'],
  ])('%s', async (_, body, expected) => {
    expect((await complete(body)).text).toBe(expected);
  });
});

describe('forwarded parameters have their effect', () => {
  it('max_tokens and max_completion_tokens, with the finish reason and usage', async () => {
    for (const limit of [{ max_tokens: 5 }, { max_tokens: undefined, max_completion_tokens: 5 }]) {
      const { text, completion } = await complete(limit);
      expect(text).toBe('yzabc');
      expect(completion.choices[0]?.finish_reason).toBe('length');
      expect(completion.usage).toMatchObject({ prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 });
    }
  });

  it.each([
    ['e', 'bcd'],
    [['no', 'fg'], 'bcde'],
    [['z'], 'bcdefghijklmnopqrstuvwxy'],
  ])('stop %j', async (stop, expected) => {
    const body = { messages: [user('a')], max_tokens: 60, stop };
    const { text, completion } = await complete(body);
    expect(text).toBe(expected);
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    const streamed = await openStream(gateway, CHAT, { ...body, temperature: 0, stream: true });
    await streamed.ended;
    expect(contentOf(streamed.text())).toBe(expected);
  });

  it('the same seed gives the same reply, other seeds others', async () => {
    const sampleWith = async (seed: number) =>
      (await complete({ messages: [user('a')], temperature: 2, top_p: 1, min_p: 0, max_tokens: 40, seed }))
        .text;
    expect(await sampleWith(7)).toBe(await sampleWith(7));
    const replies = await Promise.all([1, 2, 3, 4].map(sampleWith));
    expect(new Set(replies).size).toBeGreaterThan(1);
  });

  it('B10 numbers and unknown fields of the body pass unchanged', async () => {
    const body = `{"model":"agent","messages":[{"role":"user","content":"x"}],"temperature":0e0,"max_tokens":2,"seed":9007199254740993,"store":true,"metadata":{"a":-0}}`;
    const response = await post(body, { 'content-type': 'application/json' });
    expect(response.json<Completion & Record<string, unknown>>().choices[0]?.message.content).toBe('yz');
  });
});

describe('the stream', () => {
  it('has the headers and events that clients expect', async () => {
    const body = {
      messages: [user('.')],
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    };
    const streamed = await openStream(gateway, CHAT, body);
    expect(streamed.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': expect.stringContaining('no-cache'),
      'x-accel-buffering': 'no',
      'x-svc-slot': 'agent',
      'x-svc-model': 'tiny',
    });
    expect(streamed.headers).not.toHaveProperty('content-length');
    expect(await streamed.ended).toBe(true);
    const text = streamed.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toMatch(/^event:/m);
    const chunks = dataOf(text)
      .slice(0, -1)
      .map((data) => JSON.parse(data));
    expect(chunks[0]).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: null }],
    });
    expect(contentOf(text)).toBe(TINY_REPLY);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 1 } });
    const { recent } = (await send(gateway, 'GET', '/api/requests')).json<{ recent: object[] }>();
    expect(recent[0]).toMatchObject({
      route: CHAT,
      slot: 'agent',
      model: 'tiny',
      status: 200,
      error: null,
      prompt_tokens: 1,
      completion_tokens: chunks.at(-1).usage.completion_tokens,
    });
    expect(JSON.stringify(recent)).not.toContain(TINY_REPLY);
  });

  it('a prompt longer than the window is 400, streaming or not', async () => {
    for (const stream of [true, false]) {
      const response = await post({ messages: [user('x'.repeat(WINDOW + 1))], stream });
      expect(response).toMatchObject({ status: 400, code: 'context_length_exceeded' });
      const { error } = response.json<{ error: { message: string } & Record<string, unknown> }>();
      expect(error).toMatchObject({ n_ctx: WINDOW, n_prompt_tokens: WINDOW + 1 });
      expect(error.message).toMatch(/context/);
    }
  });

  it('can be cancelled by an admin: an error event, and the end without [DONE]', async () => {
    const streamed = await openStream(gateway, CHAT, { messages: [user('a')], temperature: 0, stream: true });
    await until(() => streamed.text().length > 1000, 'the stream to flow');
    const id = streamed.headers['x-request-id'];
    expect((await send(gateway, 'POST', `/api/requests/${id}/cancel`)).status).toBe(200);
    expect(await streamed.ended).toBe(true);
    const last = dataOf(streamed.text()).at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ error: { code: 'request.cancelled', type: 'server_error' } });
    await waitForIdleSlot(gateway, 'agent', undefined, 2_000);
  });
});

describe('invalid bodies', () => {
  it.each([
    ['no JSON', '{"messages":', 400, 'request.invalid_json'],
    ['an array', '[]', 422, 'request.invalid'],
    ['messages of another kind', '{"messages":"hi"}', 422, 'request.invalid'],
    ['a model of another kind', '{"model":7,"messages":[]}', 422, 'request.invalid'],
  ])('%s', async (_, body, status, code) => {
    const response = await post(body, { 'content-type': 'application/json' });
    expect(response).toMatchObject({ status, code });
    expect(response.json<{ error: object }>().error).toMatchObject({ type: 'invalid_request_error' });
    expect(response.json<{ error: object }>().error).toHaveProperty('param');
  });
});

describe('completions', () => {
  it('pass through, with an alias or without a model', async () => {
    for (const model of ['agent', 'svc/agent', 'tiny', undefined]) {
      const response = await send(gateway, 'POST', '/v1/completions', {
        body: { model, prompt: 'x', max_tokens: 2, temperature: 0 },
      });
      expect(response.json()).toMatchObject({ model: 'tiny', choices: [{ text: 'yz' }] });
      expect(response.headers['x-svc-slot']).toBe('agent');
    }
  });
});
