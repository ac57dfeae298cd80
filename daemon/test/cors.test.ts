/** CORS over a real port: for listed origins only, with their exact value, without credentials. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { generateText } from 'ai';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { startLocked } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const FOREIGN = 'https://evil.attacker.org';
const on = new OneGateway(() => startLocked({ env: { SVC_ALLOWED_ORIGINS: 'https://chat.mydomain.org' } }));

describe('CORS', () => {
  const preflight = (origin: string, headers = 'authorization, content-type, x-svc-model-filter') =>
    send(on, 'OPTIONS', '/v1/chat/completions', {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': headers,
      },
    });

  it('C16 a preflight from a listed origin gets its exact value, the needed headers, and no credentials', async () => {
    const response = await preflight('https://chat.mydomain.org');
    expect(response).toMatchObject({ status: 204, text: '' });
    expect(response.headers['access-control-allow-origin']).toBe('https://chat.mydomain.org');
    expect(response.headers.vary).toBe('Origin');
    expect(response.headers['access-control-allow-credentials']).toBeUndefined();
    expect(response.headers['access-control-allow-methods']).toContain('POST');
    for (const name of ['authorization', 'content-type', 'x-svc-model-filter']) {
      expect(String(response.headers['access-control-allow-headers']).toLowerCase()).toContain(name);
    }
  });

  it.each([FOREIGN, 'null', 'http://chat.mydomain.org', ''])(
    'C16 a preflight from %j is 403 without ACAO',
    async (origin) => {
      const response = await preflight(origin);
      expect(response).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
      expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  const names = (value: unknown) => new Set(String(value).toLowerCase().split(', '));
  /** Headers that need no permission: CORS-safelisted, or set by the browser alone. */
  const FREE = new Set(['accept', 'user-agent', 'content-length', 'host']);
  /** A fetch that records the header names and returns an error that no client retries. */
  function recordingFetch() {
    const sent = new Set<string>();
    const fetch: typeof globalThis.fetch = async (url, init) => {
      for (const name of new Request(url, init).headers.keys()) sent.add(name);
      return new Response('{}', { status: 400 });
    };
    return { sent, fetch };
  }

  type Options = { fetch: typeof fetch; baseURL: string };
  const openai = (options: Options, more: object = {}) =>
    new OpenAI({ ...options, apiKey: 'k', dangerouslyAllowBrowser: true, maxRetries: 0, ...more });
  const anthropic = (options: Options) =>
    new Anthropic({ ...options, apiKey: 'k', dangerouslyAllowBrowser: true, maxRetries: 0 });
  const hi = [{ role: 'user' as const, content: 'hi' }];

  it.each<[string, (options: Options) => Promise<unknown>]>([
    [
      'OpenAI',
      (options) =>
        new OpenAI({
          ...options,
          apiKey: 'k',
          organization: 'o',
          project: 'p',
          dangerouslyAllowBrowser: true,
        }).chat.completions.create({ model: 'm', messages: [] }, { timeout: 1000 }),
    ],
    [
      'Anthropic',
      (options) =>
        new Anthropic({ ...options, apiKey: 'k', dangerouslyAllowBrowser: true }).messages.create(
          { model: 'm', max_tokens: 1, messages: [] },
          { headers: { 'anthropic-beta': 'b' } },
        ),
    ],
    [
      'OpenAI (a streamed response)',
      (options) => openai(options).responses.create({ model: 'm', input: 'x', stream: true }),
    ],
    ['OpenAI (embeddings)', (options) => openai(options).embeddings.create({ model: 'm', input: 'x' })],
    [
      'OpenAI (a recording)',
      async (options) =>
        openai(options).audio.transcriptions.create({
          model: 'm',
          file: await toFile(Buffer.from('x'), 'a.wav'),
        }),
    ],
    [
      'OpenAI (a helper for streams)',
      (options) =>
        openai(options).chat.completions.stream({ model: 'm', messages: hi }).finalChatCompletion(),
    ],
    [
      'OpenAI (a helper for tools)',
      (options) =>
        openai(options)
          .chat.completions.runTools({ model: 'm', messages: hi, tools: [] })
          .finalChatCompletion(),
    ],
    [
      'OpenAI (an idempotent request of a named app)',
      (options) =>
        openai(options, {
          defaultHeaders: { 'HTTP-Referer': 'https://app.test', 'X-Title': 'App' },
        }).chat.completions.create({ model: 'm', messages: hi }, { idempotencyKey: 'i' }),
    ],
    [
      'Anthropic (a helper for streams)',
      (options) =>
        anthropic(options).messages.stream({ model: 'm', max_tokens: 1, messages: hi }).finalMessage(),
    ],
    [
      'Anthropic (beta)',
      (options) =>
        anthropic(options).beta.messages.create({
          model: 'm',
          max_tokens: 1,
          messages: hi,
          betas: ['b-1', 'b-2'],
        }),
    ],
    [
      'Anthropic (a helper for tools)',
      (options) =>
        anthropic(options)
          .beta.messages.toolRunner({ model: 'm', max_tokens: 1, messages: hi, tools: [] })
          .runUntilDone(),
    ],
    [
      'LangChain',
      (options) =>
        new ChatOpenAI({
          model: 'm',
          apiKey: 'k',
          maxRetries: 0,
          configuration: { ...options, dangerouslyAllowBrowser: true },
        }).invoke('hi'),
    ],
    [
      'LangChain (embeddings)',
      (options) =>
        new OpenAIEmbeddings({
          model: 'm',
          apiKey: 'k',
          maxRetries: 0,
          configuration: { ...options, dangerouslyAllowBrowser: true },
        }).embedQuery('hi'),
    ],
    [
      'the AI SDK',
      (options) =>
        generateText({
          model: createOpenAICompatible({ name: 'svc', apiKey: 'k', ...options })('m'),
          prompt: 'hi',
          maxRetries: 0,
        }),
    ],
  ])("a page may send every header that %s's own client sends", async (_, call) => {
    const { sent, fetch } = recordingFetch();
    await call({ fetch, baseURL: 'http://gateway.test/v1' }).catch(() => {});
    expect(sent.has('authorization') || sent.has('x-api-key'), 'it sent a request').toBe(true);
    const allowed = names(
      (await preflight('https://chat.mydomain.org')).headers['access-control-allow-headers'],
    );
    expect([...sent].filter((name) => !allowed.has(name) && !FREE.has(name))).toEqual([]);
    expect(allowed).not.toContain('*');
  });

  it('a preflight allows the same headers for every request and path', async () => {
    const allowed = async (path: string, requested: string) => {
      const headers = {
        origin: 'https://chat.mydomain.org',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': requested,
      };
      return (await send(on, 'OPTIONS', path, { headers })).headers['access-control-allow-headers'];
    };
    const list = await allowed('/v1/chat/completions', 'authorization');
    expect(await allowed('/api/settings', 'if-match')).toBe(list);
    expect(await allowed('/api/nowhere', 'x-unheard-of')).toBe(list);
    expect(names(list)).not.toContain('x-unheard-of');
    for (const name of ['if-match', 'last-event-id', 'idempotency-key', 'traceparent'])
      expect(names(list)).toContain(name);
  });

  it('a page may read the headers about retries and routing', async () => {
    const headers = { origin: 'https://chat.mydomain.org' };
    const response = await send(on, 'GET', '/v1/models', { headers });
    const exposed = names(response.headers['access-control-expose-headers']);
    for (const name of [
      'x-should-retry',
      'retry-after',
      'retry-after-ms',
      'x-svc-upstream',
      'x-svc-overhead-ms',
      'x-svc-degraded',
      'x-svc-omni',
    ])
      expect(exposed).toContain(name);
  });

  it('a page of a listed origin can read responses and errors; other origins get no header', async () => {
    const headers = { origin: 'https://chat.mydomain.org' };
    for (const [method, path, status] of [
      ['GET', '/v1/models', 200],
      ['GET', '/api/settings', 401],
      ['POST', '/v1/chat/completions', 401],
      ['GET', '/api/nowhere', 401],
    ] as const) {
      const response = await send(on, method, path, { headers });
      expect(response.status).toBe(status);
      expect(response.headers['access-control-allow-origin']).toBe('https://chat.mydomain.org');
      expect(response.headers.vary).toBe('Origin');
    }
    const own = await send(on, 'GET', '/v1/models', { headers: { origin: `http://127.0.0.1:${on.port}` } });
    expect(own.headers['access-control-allow-origin']).toBeUndefined();
  });
});
