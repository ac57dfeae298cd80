import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { recordedLog } from '../../lib/testing/recorded-log.ts';
import { createMemory } from '../../memory/memory.ts';
import { SETTINGS } from '../../settings/catalogue.ts';
import { memoryRepo } from '../../store/memory.ts';
import { memoryDb } from '../../store/testing.ts';
import { NO_NAMES } from '../dispatch/configured-names.ts';
import { wholeJson } from '../internal-read.ts';
import { InternalResponse } from '../internal-response.ts';
import { NO_UPSTREAMS } from '../ports.ts';
import { until } from '../testing/client.ts';
import { CHAT, closeAfterEach, delta, SSE, setUp } from '../testing/forwarding.ts';
import { createOmni } from './omni.ts';

closeAfterEach();

type Json = Record<string, unknown>;
/** A tool call as engines stream it. */
const calls = (...requestedCalls: [name: string, args: object][]) => {
  const list = requestedCalls.map(([name, args], index) => ({
    index,
    id: `engine-${index}`,
    function: { name, arguments: JSON.stringify(args) },
  }));
  const choices = [{ index: 0, delta: { tool_calls: list }, finish_reason: 'tool_calls' }];
  return `data: ${JSON.stringify({ choices, usage: { prompt_tokens: 5, completion_tokens: 1 } })}\n\n`;
};
const textChunk = (text: string) =>
  `${delta(text)}data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\n`;

/** An engine that answers round n with the n-th of `answers`, and a gateway with a real memory. */
async function loop(...answers: (string | ((res: ServerResponse) => void))[]) {
  const requests: { messages: Json[]; tools?: { function: { name: string } }[]; tool_choice?: unknown }[] =
    [];
  const { gateway, slots } = await setUp(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    requests.push(JSON.parse(Buffer.concat(parts).toString()));
    const answer = answers[requests.length - 1] ?? textChunk('done');
    if (typeof answer === 'function') return answer(res);
    res.writeHead(200, SSE);
    res.end(`${answer}data: [DONE]\n\n`);
  });
  const { db, faults } = memoryDb();
  const { inference } = gateway;
  const memory = createMemory({
    repo: memoryRepo(db, faults, Date.now),
    embedder: { current: () => null, embed: () => Promise.reject(new GatewayError('internal')) },
    log: recordedLog().log,
  });
  const omni = createOmni({
    inference,
    memory,
    settings: { value: (name) => SETTINGS[name].default as never },
    sources: { slots, registry: { list: () => [] }, upstreams: NO_UPSTREAMS, names: () => NO_NAMES },
  });
  const control = new AbortController();
  const call = (more: Json = {}) => {
    const body = { messages: [{ role: 'user', content: 'hi' }], omni: true, ...more };
    const res = new InternalResponse(control.signal);
    const running = omni.chat({
      id: `caller-${requests.length}`,
      route: 'v1.chat',
      path: CHAT,
      tier: 'client',
      req: { url: CHAT, headers: {} },
      res,
      body: Buffer.from(JSON.stringify(body)),
      receivedAt: performance.now(),
    });
    running.catch((error: unknown) => res.fail(error));
    return { res, running };
  };
  const completeResponse = async (more: Json = {}) => {
    const { res } = call(more);
    const answer = { ...(await res.head), body: res.chunks(), inBandError: () => null, abort: () => {} };
    return (await wholeJson(answer, 1e6)) as {
      choices: { finish_reason: string; message: { content: string; tool_calls: { id: string }[] } }[];
      usage: Json;
      _svc: { omni: { rounds: number; tools: Json[] } };
    };
  };
  return { requests, call, completeResponse, memory, control, slots, gateway };
}

/** The same call with Gemini's extra fields. */
const signed = (call: string) => call.replace('"function"', '"extra_content":{"g":"s"},"function"');
const OWN = [{ type: 'function', function: { name: 'mine', parameters: {} } }];

test('all parallel calls are answered in order, and tokens are summed', async () => {
  const { requests, completeResponse, memory } = await loop(
    calls(['remember', { text: 'one' }], ['remember', { text: 'two' }]),
  );
  const response = await completeResponse();
  expect(response).toMatchObject({
    choices: [{ finish_reason: 'stop', message: { content: 'done' } }],
    usage: { prompt_tokens: 10, completion_tokens: 2 },
  });
  expect(memory.list(10, 0)).toHaveLength(2);
  const [, assistantMessage, ...results] = requests[1]?.messages ?? [];
  const ids = ((assistantMessage?.tool_calls ?? []) as { id: string }[]).map(({ id }) => id);
  expect(results.map((result) => result.tool_call_id)).toEqual(ids);
});

test('a call with invalid JSON arguments gets an error, and the next round omits them', async () => {
  const good = calls(['remember', { text: 'x' }]);
  const cut = good.replace(String.raw`{\"text\":\"x\"}`, String.raw`{\"text\": \"x`);
  expect(cut).not.toBe(good);
  const { requests, completeResponse, memory } = await loop(cut);
  expect((await completeResponse()).choices).toMatchObject([{ message: { content: 'done' } }]);
  const [, assistantMessage, result] = requests[1]?.messages ?? [];
  expect(assistantMessage?.tool_calls).toMatchObject([{ function: { name: 'remember', arguments: '{}' } }]);
  expect(result?.content).toContain('request.invalid');
  expect(result?.content).toContain('not valid JSON');
  expect(memory.list(1, 0)).toEqual([]);
});

test.each([
  ['text', 'text: '],
  ['"text"', 'must be an object'],
  ['[1]', 'must be an object'],
  ['{"text": 5}', 'text: '],
  ['{"text": "a" trailing', 'not valid JSON'],
  ['  ', 'text: '],
  ['', 'text: '],
])('the arguments %j of a call are refused with their fault', async (text, reason) => {
  const broken = calls(['remember', {}]).replace('"arguments":"{}"', `"arguments":${JSON.stringify(text)}`);
  const { requests, completeResponse } = await loop(broken);
  expect((await completeResponse())._svc.omni.tools).toMatchObject([{ ok: false }]);
  const result = String(requests[1]?.messages.at(-1)?.content);
  expect(result).toContain(text === 'text' ? 'not valid JSON' : reason);
});

test.each([
  ['invented', OWN, /^There is no tool "foo_bar". Tools: mine, search_memory, remember\.$/],
  ['invented without own tools', [], /^There is no tool "foo_bar". Tools: search_memory, remember\.$/],
])('a tool that is %s: the model gets the list', async (_, tools, message) => {
  const { requests, completeResponse } = await loop(calls(['foo_bar', { a: 1 }]));
  expect(await completeResponse({ tools })).toMatchObject({ choices: [{ message: { content: 'done' } }] });
  const { error } = JSON.parse(String(requests[1]?.messages.at(-1)?.content));
  expect(error.code).toBe('tool.not_found');
  expect(error.message).toMatch(message);
});

test('a tool that is not loaded is unknown, with the list of those that are', async () => {
  const { requests, completeResponse } = await loop(calls(['generate_image', { prompt: 'x' }]));
  await completeResponse();
  expect(requests[1]?.messages.at(-1)?.content).toContain('There is no tool \\"generate_image\\"');
});

const ROUND = calls(['remember', { text: 'again' }]);
test.each([
  ['calls to the end', ROUND, 'The limit of 8 rounds of tool calls is reached.'],
  ['nothing in the end', 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n', 'The limit of 8'],
  ['text and calls in the end', `${delta('Well')}${ROUND}`, 'Well'],
])('the limit of rounds is visible: %s', async (_, last, text) => {
  const rounds = [...Array.from({ length: 7 }, () => ROUND), last];
  const { requests, call, completeResponse } = await loop(...rounds, ...rounds);
  const response = await completeResponse();
  expect(requests).toHaveLength(8);
  expect(requests[7]).toMatchObject({ tool_choice: 'none' });
  expect(response).toMatchObject({
    choices: [{ finish_reason: 'length', message: { content: expect.stringContaining(text) } }],
    _svc: { omni: { rounds: 8, limit: 'rounds' } },
  });
  const { res } = call({ stream: true });
  let streamed = '';
  for await (const chunk of res.chunks()) streamed += chunk;
  expect(streamed).toContain(text);
  expect(streamed).toContain('"finish_reason":"length"');
  expect(streamed).toContain('"limit":"rounds"');
});

test('an answer in the last round is complete', async () => {
  const rounds = Array.from({ length: 7 }, () => ROUND);
  const response = await (await loop(...rounds, textChunk('done'))).completeResponse();
  expect(response.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'done' } }]);
  expect(response._svc.omni).not.toHaveProperty('limit');
});

test.each([17, 40])('of %i calls in one round 16 run, and the others get an error', async (count) => {
  const many = Array.from({ length: count }, (_, at) => ['remember', { text: `note ${at}` }] as const);
  const { requests, completeResponse, memory } = await loop(
    calls(...many.map((each) => [...each] as [string, object])),
  );
  const response = await completeResponse();
  expect(response.choices).toMatchObject([{ finish_reason: 'stop', message: { content: 'done' } }]);
  expect(memory.list(99, 0)).toHaveLength(16);
  expect(response._svc.omni.tools).toHaveLength(count);
  const results = requests[1]?.messages.filter(({ role }) => role === 'tool') ?? [];
  expect(results).toHaveLength(count);
  for (const [at, { content }] of results.entries())
    if (at < 16) expect(content).toContain('remembered');
    else expect(content).toContain('tool.too_many_calls');
});

test('a long result is cut at whole notes with a count', async () => {
  const { requests, completeResponse, memory } = await loop(calls(['search_memory', { query: 'note' }]));
  for (let at = 0; at < 4; at++) memory.add(`note ${at} ${'x '.repeat(3_500)}`, [], 'client');
  await completeResponse();
  const result = JSON.parse(String(requests[1]?.messages.at(-1)?.content));
  expect(result.memories.length).toBe(2);
  expect(result.omitted).toBe(2);
});

test('calls that an engine streams under one number are two calls', async () => {
  const one = (text: string) =>
    calls(['remember', { text }]).replace('engine-0', text).replace('"tool_calls"}]', 'null}]');
  const { completeResponse, memory } = await loop(one('first') + one('second'));
  await completeResponse();
  expect(
    memory
      .list(10, 0)
      .map(({ text }) => text)
      .sort(),
  ).toEqual(['first', 'second']);
});

test("a round that mixes tools: runs ours, returns the caller's, and the model sees both results", async () => {
  const { requests, completeResponse } = await loop(
    calls(['remember', { text: 'first' }]),
    calls(['remember', { text: 'second' }], ['mine', { a: 1 }]),
  );
  const response = await completeResponse({ tools: OWN });
  const message = response.choices[0]?.message;
  expect(response.choices[0]?.finish_reason).toBe('tool_calls');
  expect(message?.tool_calls).toMatchObject([{ function: { name: 'mine', arguments: '{"a":1}' } }]);
  const result = { role: 'tool', tool_call_id: message?.tool_calls[0]?.id, content: 'mine says' };
  const messages = [{ role: 'user', content: 'hi' }, message, result];
  expect((await completeResponse({ tools: OWN, messages })).choices[0]?.message.content).toBe('done');
  const roles = requests[2]?.messages.map(({ role }) => role);
  expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'tool']);
});

test('reasoning before a call and its extra fields are in the next round', async () => {
  const thoughts = 'data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n';
  const { requests, completeResponse } = await loop(thoughts + signed(calls(['remember', { text: 'x' }])));
  await completeResponse();
  const assistantMessage = {
    role: 'assistant',
    reasoning_content: 'hm',
    tool_calls: [{ extra_content: { g: 's' } }],
  };
  expect(requests[1]?.messages[1]).toMatchObject(assistantMessage);
});

test("extra fields of calls to the caller's tools are in the next round, and hidden from the caller", async () => {
  const { requests, completeResponse } = await loop(signed(calls(['mine', { a: 1 }])));
  const message = (await completeResponse({ tools: OWN })).choices[0]?.message;
  expect(JSON.stringify(message)).not.toContain('extra_content');
  const result = { role: 'tool', tool_call_id: message?.tool_calls[0]?.id, content: 'mine says' };
  await completeResponse({ tools: OWN, messages: [{ role: 'user', content: 'hi' }, message, result] });
  expect(requests[1]?.messages[1]).toMatchObject({ tool_calls: [{ extra_content: { g: 's' } }] });
});

test('a model with vision gets the image; for another one a tool describes it', async () => {
  const { requests, completeResponse, slots } = await loop();
  slots.records.push(Object.assign(slotRecord({ name: 'eyes', model: 'pixels' }), { vision: true }));
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const show = async () => {
    await completeResponse({ messages: [{ role: 'user', content: [image] }] });
    const { messages = [], tools = [] } = requests.at(-1) ?? {};
    return [messages[0]?.content, tools.some(({ function: { name } }) => name === 'describe_image')];
  };
  expect(await show()).toEqual([[{ type: 'text', text: '[image_1]' }], true]);
  Object.assign(slots.records[0] as object, { vision: true });
  expect(await show()).toEqual([[image], false]);
});

test('a tool of the caller replaces ours of the same name; tool_choice none offers none of ours', async () => {
  const { requests, completeResponse } = await loop(textChunk('a'), textChunk('b'));
  const callerTools = [{ type: 'function', function: { name: 'remember', parameters: {} } }];
  await completeResponse({ tools: callerTools });
  await completeResponse({ tool_choice: 'none' });
  expect(requests[0]?.tools?.map((tool) => tool.function.name).sort()).toEqual(['remember', 'search_memory']);
  expect(requests[1]?.tools).toBeUndefined();
});

test('a required call is requested once', async () => {
  const { requests, completeResponse } = await loop(calls(['remember', { text: 'x' }]));
  await completeResponse({ tool_choice: 'required' });
  expect(requests.map(({ tool_choice }) => tool_choice)).toEqual(['required', undefined]);
});

test('an error of the engine keeps status and message, in the first and later rounds', async () => {
  const refuse = (res: ServerResponse) => {
    res.writeHead(422, { 'content-type': 'application/json' });
    res.end('{"error":{"message":"no such grammar","code":null}}');
  };
  const first = (await loop(refuse)).call();
  expect((await first.res.head).status).toBe(422);
  first.res.destroy();
  const later = await loop(calls(['remember', { text: 'x' }]), refuse);
  await expect(later.completeResponse()).rejects.toMatchObject({ status: 422, message: 'no such grammar' });
});

test('retry hints of a later round reach the caller', async () => {
  const busy = (res: ServerResponse) => {
    res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7', 'x-should-retry': 'false' });
    res.end('{"error":{"message":"busy","code":"rate_limit_exceeded"}}');
  };
  const { completeResponse } = await loop(calls(['remember', { text: 'x' }]), busy);
  const failed = await completeResponse().catch((error: GatewayError) => error);
  expect(failed).toMatchObject({ status: 429, message: 'busy' });
  expect((failed as GatewayError).headers()).toMatchObject({ 'retry-after': '7', 'x-should-retry': 'false' });
});

test("a load is waited for like the caller's request, not like the streamed rounds", async () => {
  const { call, completeResponse, slots } = await loop();
  const waited: boolean[] = [];
  slots.before = (_, { stream }) => void waited.push(stream);
  await completeResponse();
  await call({ stream: true }).running;
  expect(waited).toEqual([false, true]);
});

test('an engine crash in a later round: its status, or the last event of a stream', async () => {
  const disconnect = (res: ServerResponse) => res.destroy();
  const completeResponse = await loop(calls(['remember', { text: 'x' }]), disconnect);
  await expect(completeResponse.completeResponse()).rejects.toMatchObject({ status: 502 });
  const { res } = (await loop(calls(['remember', { text: 'x' }]), disconnect)).call({ stream: true });
  await res.head;
  let text = '';
  for await (const chunk of res.chunks()) text += chunk;
  expect(text).toContain('"tool_result"');
  expect(text).toContain('"error"');
  expect(text).not.toContain('[DONE]');
});

test('an engine that answers with a complete response; one without a message is a failure', async () => {
  const answer = (body: Json) => (res: ServerResponse) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(body));
  };
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'said' },
  ];
  const good = await loop(answer({ choices: [{ message: { content }, finish_reason: 'stop' }] }));
  expect((await good.completeResponse()).choices[0]?.message).toMatchObject({
    content: 'said',
    reasoning_content: 'hm',
  });
  await expect((await loop(answer({ choices: [] }))).completeResponse()).rejects.toMatchObject({
    code: 'upstream.error',
  });
});

test('a response has the fields that clients check; unknown counts are left out', async () => {
  const { call, completeResponse } = await loop(delta('one'), delta('two'));
  const response = await completeResponse();
  expect(response.choices).toMatchObject([{ logprobs: null, message: { content: 'one', refusal: null } }]);
  expect(response).not.toHaveProperty('usage');
  const { res } = call({ stream: true, stream_options: { include_usage: true } });
  let text = '';
  for await (const chunk of res.chunks()) text += chunk;
  expect(text).toContain('"two"');
  expect(text).not.toContain('"usage"');
});

test('a response that stops within a call is a failure, and the partial call is dropped', async () => {
  const half = (res: ServerResponse) => {
    const call = { index: 0, id: 'a', function: { name: 'mine', arguments: '{"a":' } };
    res.writeHead(200, { ...SSE, connection: 'close' });
    res.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })}\n\n`);
  };
  await expect((await loop(half)).completeResponse({ tools: OWN })).rejects.toMatchObject({
    code: 'upstream.error',
  });
});

test('a client disconnect ends the engine', async () => {
  const pendingResponses: ServerResponse[] = [];
  const { call, control } = await loop(
    calls(['remember', { text: 'x' }]),
    (res) => void pendingResponses.push(res),
  );
  const { running } = call();
  await until(() => pendingResponses.length === 1);
  const closed = once(pendingResponses[0] as ServerResponse, 'close');
  control.abort(new Error('disconnected'));
  await Promise.all([running, closed]);
});

test('a refusal by the schema is in the request log, like that of a chat', async () => {
  const { call, gateway } = await loop();
  expect(() => call({ n: 2 })).toThrow(GatewayError);
  expect(gateway.log).toMatchObject([{ id: 'caller-0', route: CHAT, status: 422, error: 'request.invalid' }]);
});

test('a call is one running request until its last round is over', async () => {
  const pendingResponses: ServerResponse[] = [];
  const { call, gateway } = await loop(
    calls(['remember', { text: 'x' }]),
    (res) => void pendingResponses.push(res),
  );
  const { running } = call({ stream: true });
  await until(() => pendingResponses.length === 1);
  expect(gateway.inference.running().map(({ id }) => id)).toContain('caller-0');
  expect(gateway.log).toEqual([]);
  pendingResponses[0]?.writeHead(200, SSE).end(`${textChunk('done')}data: [DONE]\n\n`);
  await running;
  await until(() => gateway.log.length === 2);
  const records = gateway.log.filter(({ id }) => id === 'caller-0');
  expect(records).toMatchObject([{ status: 200, error: null, prompt_tokens: 5 }]);
});

test('a cancel by id ends it in a later round, streamed or not', async () => {
  for (const stream of [true, false]) {
    const pendingResponses: ServerResponse[] = [];
    const { call, gateway } = await loop(
      calls(['remember', { text: 'x' }]),
      (res) => void pendingResponses.push(res),
    );
    const { running, res } = call({ stream });
    const over = running.catch((error: GatewayError) => error.code);
    res.head.catch(() => {});
    await until(() => pendingResponses.length === 1);
    const closed = once(pendingResponses[0] as ServerResponse, 'close');
    expect(gateway.inference.cancel('caller-0')).toBe(true);
    await closed;
    expect(await over).toBe(stream ? undefined : 'request.cancelled');
    await until(() => gateway.log.some(({ id }) => id === 'caller-0'));
    expect(gateway.log.find(({ id }) => id === 'caller-0')?.error).toBe('request.cancelled');
    expect(gateway.inference.cancel('caller-0')).toBe(false);
  }
});

test('a tool that ends after a cancel writes nothing after the end, even for a slow reader', async () => {
  const pendingResponses: ServerResponse[] = [];
  const { call, gateway, memory, slots } = await loop(
    calls(['describe_image', { file: 'image_1' }], ['search_memory', { query: 'x' }]),
    (res) => void pendingResponses.push(res),
  );
  slots.records.push(Object.assign(slotRecord({ name: 'eyes', model: 'pixels' }), { vision: true }));
  const late = Promise.withResolvers<Awaited<ReturnType<typeof memory.search>>>();
  Object.assign(memory, { search: () => late.promise });
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const { running, res } = call({ stream: true, messages: [{ role: 'user', content: [image] }] });
  const errors: unknown[] = [];
  res.on('error', (error) => void errors.push(error));
  await until(() => pendingResponses.length === 1);
  expect(gateway.inference.cancel('caller-0')).toBe(true);
  await running;
  late.resolve({ memories: [], mode: 'words' });
  await new Promise(setImmediate);
  expect(errors).toEqual([]);
  let text = '';
  for await (const chunk of res.chunks()) text += chunk;
  expect(text).toContain('request.cancelled');
});

test.each([true, false])(
  'an engine that ignores stream serves the loop (caller streams: %s)',
  async (stream) => {
    const plain = (message: Json) => (res: ServerResponse) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }];
      res.end(JSON.stringify({ choices, usage: { prompt_tokens: 5, completion_tokens: 1 } }));
    };
    const call = { id: 'x', type: 'function', function: { name: 'remember', arguments: '{"text":"one"}' } };
    const rounds = [plain({ content: null, tool_calls: [call] }), plain({ content: 'done' })] as const;
    const { call: start, completeResponse, memory } = await loop(...rounds);
    if (stream) {
      const { res } = start({ stream });
      let text = '';
      await res.head;
      for await (const part of res.chunks()) text += part.toString();
      expect(text).toContain('"content":"done"');
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
    } else {
      const response = await completeResponse();
      expect(response.choices[0]?.message.content).toBe('done');
      expect(response.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2 });
    }
    expect(memory.list(9, 0)).toHaveLength(1);
  },
);

test.each([
  ['an error text', `${delta('half')}data: {"error":"boom"}\n\n`],
  ['the form of older vLLM', `${delta('half')}data: {"object":"error","message":"boom","code":500}\n\n`],
  ['an event named error', `${delta('half')}event: error\ndata: {"message":"boom"}\n\n`],
  ['a code and a message', `${delta('half')}data: {"code":"x","message":"boom"}\n\n`],
  [
    'the form of Anthropic',
    `${delta('half')}data: {"type":"error","error":{"type":"api_error","message":"boom"}}\n\n`,
  ],
  [
    'the finish reason abort',
    delta('half').replace('}]}', '},"finish_reason":"abort"}]}').replace('}},"', '},"'),
  ],
])('%s of the engine ends the loop as an error', async (_, answer) => {
  const { call: start, completeResponse } = await loop(answer, answer);
  const { res } = start({ stream: true });
  let text = '';
  await res.head;
  for await (const part of res.chunks()) text += part.toString();
  expect(text).toMatch(/data: \{"error":\{.*\}\}\n\n$/);
  await expect(completeResponse()).rejects.toThrow(/boom|stopped before/);
});
