/**
 * The tool loop over a real port (docs/spec/specification.md#deviation-omni, docs/spec/contract.md#omni):
 * real llama.cpp, tiny models.
 */
import { beforeAll, expect, it } from 'vitest';
import { CHATML } from '../models/testing/gguf/chat-templates.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { slotsOf } from './harness/omni-slots.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openaiClient } from './harness/openai.ts';
import { waitForSlotState } from './harness/slots.ts';

const NOTE = 'the key is under the mat';
const REPLY = 'It is done now.';
/** A template that requests a call whenever tools are declared, also after a result. */
const ALWAYS = CHATML.replace(
  "{{ '<|im_start|>assistant\\n' }}{%- endif %}",
  "{{ '<|im_start|>assistant\\n' }}{%- if tools %}{{ '<|call|>' }}{%- endif %}{%- endif %}",
);
const TIME = { type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } } as const;
const hello = [{ role: 'user', content: 'hi' }] as const;

/** Models that make one fixed call each, by the slot that serves them. */
const CHATS = {
  agent: tinyChat({
    context: 8192,
    reply: REPLY,
    runs: false,
    tool: { name: 'remember', args: { text: NOTE } },
  }),
  careless: tinyChat({
    context: 8192,
    reply: REPLY,
    runs: false,
    tool: { name: 'remember', args: { text: '' } },
  }),
  clock: tinyChat({ context: 8192, reply: REPLY, runs: false }),
  again: tinyChat({
    context: 8192,
    reply: REPLY,
    runs: false,
    template: ALWAYS,
    tool: { name: 'search_memory', args: { query: 'mat' } },
  }),
};

interface OmniResponse {
  choices: { finish_reason: string; message: { content: string; tool_calls?: { id: string }[] } }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  _svc: { omni: { rounds: number; tools: { name: string; ok: boolean; content: string }[] } };
}

const gateway = new OneGateway(() => startLocked(slotsOf(8192, CHATS, { embed: tinyEmbed({ size: 32 }) })));
beforeAll(async () => {
  await send(gateway, 'POST', '/api/slots/agent/load', { key: ADMIN_KEY, body: {}, idleTimeoutMs: 60_000 });
  await waitForSlotState(gateway, 'agent', 'ready', ADMIN_KEY);
});

const chat = (more: object, key = ADMIN_KEY): Promise<HttpResponse> =>
  send(gateway, 'POST', '/v1/chat/completions', {
    key,
    idleTimeoutMs: 60_000,
    body: { messages: hello, omni: true, temperature: 0, max_tokens: 256, ...more },
  });
const memories = async () =>
  (await send(gateway, 'GET', '/api/memory', { key: ADMIN_KEY })).json<{ memories: { text: string }[] }>()
    .memories;

it('runs a tool, gives its result to the model and counts both rounds', async () => {
  const plain = (await chat({ omni: false })).json<OmniResponse>();
  const response = await chat({});
  expect([response.status, response.headers['x-svc-omni'], response.headers['x-svc-slot']]).toEqual([
    200,
    'on',
    'agent',
  ]);
  const body = response.json<OmniResponse>();
  expect(body.choices).toMatchObject([{ finish_reason: 'stop', message: { content: REPLY } }]);
  expect(body._svc.omni).toMatchObject({ rounds: 2, tools: [{ name: 'remember', ok: true }] });
  expect((await memories()).map(({ text }) => text)).toEqual([NOTE]);
  expect(body.usage.prompt_tokens).toBeGreaterThan(2 * plain.usage.prompt_tokens);
  expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
});

it('a stream contains each call and result, and the official client can read it', async () => {
  const openai = openaiClient(gateway, { apiKey: ADMIN_KEY });
  const stream = await openai.chat.completions.create({
    model: 'agent',
    messages: [...hello],
    stream: true,
    stream_options: { include_usage: true },
    ...{ omni: true },
  });
  let text = '';
  const types: string[] = [];
  const ids = new Set<string>();
  let tokens = 0;
  for await (const chunk of stream) {
    ids.add(chunk.id);
    text += chunk.choices[0]?.delta.content ?? '';
    expect(chunk.choices[0]?.delta.tool_calls).toBeUndefined();
    const { _svc } = chunk as unknown as { _svc?: { omni: { type: string } } };
    if (_svc) types.push(_svc.omni.type);
    tokens += chunk.usage?.total_tokens ?? 0;
  }
  expect([text, types, ids.size]).toEqual([REPLY, ['tool_call', 'tool_result', 'done'], 1]);
  expect(tokens).toBeGreaterThan(0);
});

it('a tier is offered only tools that it may call, and a call of another one fails', async () => {
  const before = (await memories()).length;
  const nothing = (await chat({}, CLIENT_KEY)).json<OmniResponse>();
  expect(nothing._svc.omni).toEqual({ rounds: 1, tools: [] });
  await send(gateway, 'POST', '/api/slots/embed/load', { key: ADMIN_KEY, body: {}, idleTimeoutMs: 60_000 });
  await waitForSlotState(gateway, 'embed', 'ready', ADMIN_KEY);
  const refused = (await chat({}, CLIENT_KEY)).json<OmniResponse>();
  expect(refused._svc.omni.tools).toMatchObject([{ name: 'remember', ok: false }]);
  expect(refused._svc.omni.tools[0]?.content).toContain('auth.forbidden');
  expect(await memories()).toHaveLength(before);
});

it('the model gets the error of a tool and continues', async () => {
  const body = (await chat({ model: 'careless' })).json<OmniResponse>();
  expect(body.choices[0]?.message.content).toBe(REPLY);
  expect(body._svc.omni.tools).toMatchObject([{ name: 'remember', ok: false }]);
  expect(body._svc.omni.tools[0]?.content).toContain('request.invalid');
});

it("a call of the caller's own tool is returned to the caller, and the chat continues with its result", async () => {
  const body = (await chat({ model: 'clock', tools: [TIME] })).json<OmniResponse>();
  const message = body.choices[0]?.message;
  expect(body.choices[0]?.finish_reason).toBe('tool_calls');
  expect(message?.tool_calls).toMatchObject([
    { function: { name: 'get_time', arguments: '{"zone":"UTC"}' } },
  ]);
  const result = { role: 'tool', tool_call_id: message?.tool_calls?.[0]?.id, content: 'noon' };
  const more = await chat({ model: 'clock', tools: [TIME], messages: [...hello, message, result] });
  expect(more.json<OmniResponse>().choices).toMatchObject([
    { finish_reason: 'stop', message: { content: REPLY } },
  ]);
});

it('a model that always calls gets eight rounds, the last one without tools', async () => {
  const body = (await chat({ model: 'again' })).json<OmniResponse>();
  expect(body._svc.omni.rounds).toBe(8);
  expect(body._svc.omni.tools).toHaveLength(7);
  expect(body.choices).toMatchObject([{ finish_reason: 'stop', message: { content: REPLY } }]);
});

it('errors keep code and status', async () => {
  expect(await chat({ model: 'no-such-model' })).toMatchObject({ status: 404, code: 'dispatch.no_route' });
  expect(await chat({ model: 'embed-model' })).toMatchObject({
    status: 409,
    code: 'dispatch.capability_mismatch',
  });
  expect((await chat({ messages: 'x' })).status).toBe(422);
  expect((await chat({ n: 2 })).status).toBe(422);
  const long = [{ role: 'user', content: 'x '.repeat(5_000) }];
  expect(await chat({ messages: long, stream: true })).toMatchObject({ status: 400 });
});
