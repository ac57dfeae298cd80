/** The official clients against errors of the gateway: the class that each throws, and whether it retries. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic, {
  AuthenticationError as AnthropicAuthentication,
  APIError as AnthropicError,
  NotFoundError as AnthropicNotFound,
  PermissionDeniedError as AnthropicPermissionDenied,
  RateLimitError as AnthropicRateLimit,
  InternalServerError as AnthropicServerError,
} from '@anthropic-ai/sdk';
import { APICallError, generateText } from 'ai';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from './harness/failure.ts';
import { CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { json, provider, type StandIn, standIn } from './harness/stand-in.ts';

let desk: StandIn;
beforeAll(async () => {
  desk = await standIn(() => json(500, {}));
});
afterAll(() => desk.stop());

const gateway = new OneGateway(() =>
  startLocked({
    files: { 'config/upstreams/desk.toml': `base_url = "${desk.url}/v1"\nmodels = ["m"]\n` },
  }),
);

/** A `fetch` that records the status of every response. */
function counting() {
  const statuses: number[] = [];
  const counted: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  return { statuses, fetch: counted };
}

/** Anthropic's client with its retries, and the statuses that it received. */
function anthropic(options: ConstructorParameters<typeof Anthropic>[0] = {}) {
  const { statuses, fetch } = counting();
  const api = new Anthropic({
    apiKey: null,
    authToken: CLIENT_KEY,
    baseURL: gateway.url,
    maxRetries: 2,
    fetch,
    ...options,
  });
  return { api, statuses };
}

/** OpenAI's client with its retries, and the statuses that it received. */
function openai(options: ConstructorParameters<typeof OpenAI>[0] = {}) {
  const { statuses, fetch } = counting();
  const api = new OpenAI({
    apiKey: CLIENT_KEY,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 2,
    fetch,
    ...options,
  });
  return { api, statuses };
}

const hi = [{ role: 'user' as const, content: 'Hello!' }];
const message = { model: 'm', max_tokens: 9, messages: hi };

/** A stream that reports `error` after its first words. */
const failing = (error: unknown) => (): ReturnType<typeof json> => (_req, res) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(
    `data: {"choices":[{"delta":{"content":"Half"}}]}\n\ndata: ${JSON.stringify({ error })}\n\ndata: [DONE]\n\n`,
  );
};

describe("errors of Anthropic's API", () => {
  it.each([
    [404, 'model_not_found', AnthropicNotFound, 'not_found_error'],
    [429, 'rate_limit_exceeded', AnthropicRateLimit, 'rate_limit_error'],
    [500, 'server_error', AnthropicServerError, 'api_error'],
    [529, 'overloaded', AnthropicServerError, 'overloaded_error'],
  ])('a status %i of an upstream', async (status, code, kind, type) => {
    const error = { message: 'no', code, type: 'whatever' };
    desk.respondWith(() => json(status, { error }, { 'x-should-retry': 'false' }));
    const { api, statuses } = anthropic();
    expect(await failure(api.messages.create(message), kind)).toMatchObject({ status, type });
    expect(statuses).toEqual([status]);
  });

  it('an unknown model is not retried', async () => {
    const { api, statuses } = anthropic();
    const call = api.messages.create({ ...message, model: 'no-such-model' });
    expect(await failure(call, AnthropicNotFound)).toMatchObject({ status: 404, type: 'not_found_error' });
    expect(statuses).toEqual([404]);
  });

  it.each([
    [{ message: 'gpu lost', type: 'server_error' }, 'api_error'],
    [{ message: 'full', code: 429 }, 'rate_limit_error'],
    [{ message: 'full', code: '529' }, 'overloaded_error'],
    ['gpu lost', 'api_error'],
  ])('an error %j inside a stream', async (sent, type) => {
    desk.respondWith(failing(sent));
    const stream = anthropic().api.messages.stream(message);
    expect(await failure(stream.finalMessage(), AnthropicError)).toMatchObject({ type });
  });
});

describe('keys', () => {
  const invalid = 'This key is not valid here.';

  it('a wrong key fails at once in the client of Anthropic', async () => {
    const { api, statuses } = anthropic({ authToken: 'wrong' });
    const error = await failure(api.messages.create(message), AnthropicAuthentication);
    expect(error).toMatchObject({ status: 401, type: 'authentication_error' });
    expect(error.message).toContain(invalid);
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(statuses).toEqual([401]);
  });

  it("x-api-key serves Anthropic's client, and a wrong one fails at once", async () => {
    desk.respondWith(provider('m'));
    const right = anthropic({ apiKey: CLIENT_KEY, authToken: null });
    expect((await right.api.messages.create(message)).content).toMatchObject([{ type: 'text' }]);
    const { api, statuses } = anthropic({ apiKey: 'wrong', authToken: null });
    const error = await failure(api.messages.create(message), AnthropicAuthentication);
    expect(error.message).toContain(invalid);
    expect(statuses).toEqual([401]);
    const received = desk.text();
    expect(received).not.toContain(CLIENT_KEY);
    expect(received).not.toContain('x-api-key');
  });

  it('a wrong key fails at once in the client of OpenAI', async () => {
    const { api, statuses } = openai({ apiKey: 'wrong' });
    const call = api.chat.completions.create({ model: 'm', messages: hi });
    const error = await failure(call, AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'auth.required', type: 'authentication_error' });
    expect(error.message).toContain(invalid);
    expect(statuses).toEqual([401]);
  });

  it('a wrong key is no retryable error of the AI SDK', async () => {
    const svc = createOpenAICompatible({ name: 'svc', baseURL: `${gateway.url}/v1`, apiKey: 'wrong' });
    const error = await failure(generateText({ model: svc('m'), prompt: 'Hi!' }), APICallError);
    expect(error).toMatchObject({ statusCode: 401, isRetryable: false });
    expect(error.message).toContain(invalid);
  });
});

describe('coded bodies', () => {
  /** A `fetch` that sends its body compressed, as Codex does. */
  const compressing =
    (coding: string, compress: (body: string) => Buffer<ArrayBuffer>): typeof fetch =>
    (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('content-encoding', coding);
      return fetch(url, { ...init, headers, body: compress(String(init?.body)) });
    };

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('a chat in %s is answered', async (coding, compress) => {
    desk.respondWith(provider('m'));
    const fetch = compressing(coding, (body) => Buffer.from(compress(body)));
    const { api } = openai({ fetch });
    const chat = await api.chat.completions.create({ model: 'm', messages: hi });
    expect(chat.choices[0]?.message.content).toBe('m from afar');
    expect(JSON.parse(desk.requests.at(-1)?.body ?? '')).toMatchObject({ model: 'm', messages: hi });
    expect(desk.requests.at(-1)?.headers['content-encoding']).toBeUndefined();
  });

  it('an unknown coding is 415 with Accept-Encoding, and a bomb is 413', async () => {
    const unknown = openai({ fetch: compressing('compress', (body) => Buffer.from(body)) });
    const error = await failure(unknown.api.chat.completions.create({ model: 'm', messages: hi }), APIError);
    expect(error).toMatchObject({ status: 415, code: 'request.unsupported_type' });
    expect((error.headers as Headers | undefined)?.get('accept-encoding')).toBe('gzip, deflate, br, zstd');
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024));
    const large = openai({ fetch: compressing('gzip', () => bomb) });
    expect(
      await failure(large.api.chat.completions.create({ model: 'm', messages: hi }), APIError),
    ).toMatchObject({ status: 413, code: 'request.too_large' });
  });
});

describe('a broken tool call in the history', () => {
  const broken = {
    role: 'assistant' as const,
    content: null,
    tool_calls: [{ id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{' } }],
  };
  const result = { role: 'tool' as const, tool_call_id: 'c', content: 'noon' };

  it('is 400 with its position, and is not retried', async () => {
    const { api, statuses } = openai();
    const call = api.chat.completions.create({ model: 'm', messages: [...hi, broken, result] });
    expect(await failure(call, BadRequestError)).toMatchObject({
      status: 400,
      code: 'request.invalid_history',
      param: 'messages.1.tool_calls.0',
    });
    expect(statuses).toEqual([400]);
  });

  it('is 400 with its position in the input of a response', async () => {
    const { api, statuses } = openai();
    const input = [
      { role: 'user' as const, content: 'Hello!' },
      { type: 'function_call' as const, call_id: 'c', name: 'f', arguments: '{' },
      { type: 'function_call_output' as const, call_id: 'c', output: 'noon' },
    ];
    const error = await failure(api.responses.create({ model: 'm', input }), BadRequestError);
    expect(error).toMatchObject({ code: 'request.invalid_history', param: 'input.1' });
    expect(error.message).toContain('input.1: the arguments');
    expect(statuses).toEqual([400]);
  });

  it('with empty arguments is sent as a call without arguments', async () => {
    desk.respondWith(provider('m'));
    const [call] = broken.tool_calls;
    const empty = { ...broken, tool_calls: [{ ...call, function: { name: 'f', arguments: '' } }] };
    const messages = [...hi, empty, result] as Parameters<
      OpenAI['chat']['completions']['create']
    >[0]['messages'];
    await openai().api.chat.completions.create({ model: 'm', messages });
    expect(JSON.parse(desk.requests.at(-1)?.body ?? '').messages[1].tool_calls[0].function.arguments).toBe(
      '{}',
    );
  });
});

describe('the origin of an app', () => {
  it('is refused with the setting and the entry to add, in the clients and in the log', async () => {
    const origin = 'tauri://localhost';
    const { api, statuses } = openai({ defaultHeaders: { origin } });
    const call = api.chat.completions.create({ model: 'm', messages: hi });
    const error = await failure(call, PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
    expect(error.message).toContain(`SVC_ALLOWED_ORIGINS=${origin}`);
    expect(statuses).toEqual([403]);
    await gateway.waitFor(`SVC_ALLOWED_ORIGINS=${origin}`);
  });

  it('that cannot be listed is refused with the reason', async () => {
    const { api, statuses } = anthropic({ defaultHeaders: { origin: 'null' } });
    const error = await failure(api.messages.create(message), AnthropicPermissionDenied);
    expect(error).toMatchObject({ status: 403, type: 'permission_error' });
    expect(error.message).toContain('cannot list it');
    expect(statuses).toEqual([403]);
  });
});

describe('wrong base URLs', () => {
  it.each([
    ['', ''],
    ['two versions', '/v1/v1'],
    ['a double slash', '/v1/'],
    ["Azure's path", '/openai/deployments/m'],
  ])("%s: OpenAI's client is sent to the right one", async (_, path) => {
    const { api, statuses } = openai({ baseURL: `${gateway.url}${path}/` });
    const call = api.chat.completions.create({ model: 'm', messages: hi });
    const error = await failure(call, NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'route.not_found', type: 'invalid_request_error' });
    expect(error.message).toContain(`Use ${gateway.url}/v1/chat/completions.`);
    expect(statuses).toEqual([404]);
  });

  it('a model list without /v1 is JSON for clients and the dashboard for browsers', async () => {
    const error = await failure(openai({ baseURL: gateway.url }).api.models.list(), NotFoundError);
    expect(error.message).toContain(`Use ${gateway.url}/v1/models.`);
    const page = await send(gateway, 'GET', '/models', { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  it("Anthropic's client with /v1 in its base URL is sent to the right one", async () => {
    const { api, statuses } = anthropic({ baseURL: `${gateway.url}/v1` });
    const error = await failure(api.messages.create(message), AnthropicNotFound);
    expect(error).toMatchObject({ type: 'not_found_error' });
    expect(error.message).toContain(`and ${gateway.url} for clients of Anthropic's API`);
    expect(statuses).toEqual([404]);
  });

  it.each([
    ['GET', '/api/tags'],
    ['GET', '/api/version'],
    ['POST', '/api/chat'],
    ['POST', '/api/generate'],
    ['POST', '/api/show'],
    ['DELETE', '/api/delete'],
  ])('a client of Ollama reads what to choose: %s %s', async (method, path) => {
    const known = await send(gateway, method, path, { key: CLIENT_KEY });
    expect([known.status, known.json()]).toEqual([
      404,
      { error: expect.stringContaining(`base URL ${gateway.url}/v1`) },
    ]);
    const unknown = await send(gateway, method, path);
    expect([unknown.status, unknown.json()]).toEqual([
      401,
      { error: expect.stringMatching(/^A key is required\. /) },
    ]);
  });

  it('the body of a wrong path is not read', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'x');
    const response = await send(gateway, 'POST', '/chat/completions', { key: CLIENT_KEY, body });
    expect(response).toMatchObject({ status: 404, code: 'route.not_found' });
  });
});

describe('the model list', () => {
  it("has Anthropic's form for its client, page by page", async () => {
    const { api } = anthropic();
    const ids: string[] = [];
    for await (const each of api.models.list({ limit: 1 })) {
      expect(each).toMatchObject({ type: 'model', display_name: expect.any(String) });
      expect(new Date(each.created_at).getTime()).toBeGreaterThan(0);
      ids.push(each.id);
    }
    expect(ids).toContain('m');
    expect(new Set(ids).size).toBe(ids.length);
    expect((await api.models.list({ limit: 1000 })).data.map(({ id }) => id)).toEqual(ids);
    expect(await api.models.retrieve('m')).toMatchObject({ type: 'model', id: 'm' });
    await failure(api.models.retrieve('no-such-model'), AnthropicNotFound);
  });

  it("has OpenAI's form for its client, and also Codex's array on request", async () => {
    const { api } = openai();
    const plain = await api.models.list();
    expect(plain.data.map(({ id, object }) => [id, object])).toContainEqual(['m', 'model']);
    const list = await send(gateway, 'GET', '/v1/models', { key: CLIENT_KEY });
    expect(Object.keys(list.json())).toEqual(['object', 'data']);
    const response = await send(gateway, 'GET', '/v1/models?client_version=0.153.4', { key: CLIENT_KEY });
    expect(response.json()).toMatchObject({
      object: 'list',
      data: expect.arrayContaining([expect.objectContaining({ id: 'm' })]),
      models: expect.arrayContaining([expect.objectContaining({ slug: 'm', display_name: 'm' })]),
    });
  });

  it('a wrong page size is 422', async () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    const response = await send(gateway, 'GET', '/v1/models?limit=0', { headers });
    expect(response).toMatchObject({ status: 422, code: 'request.invalid' });
  });
});
