/** The official `openai` client (npm) against the running daemon and real llama.cpp. */
import type OpenAI from 'openai';
import {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  UnprocessableEntityError,
} from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { failure } from './harness/failure.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { countingClient, openaiClient, user } from './harness/openai.ts';
import { startGuarded, WINDOW } from './harness/tiny-gateway.ts';

let openai: OpenAI;

const gateway = new OneGateway(() =>
  startGuarded({ files: { 'config/slots/utility.toml': 'model = "tiny"\nparallel = 1\ncontext = 32768\n' } }),
);
beforeAll(async () => {
  openai = openaiClient(gateway);
});

describe('models', () => {
  it('models.list has the model, its aliases and the virtual names, all in the published format', async () => {
    const ids: string[] = [];
    for await (const model of openai.models.list()) {
      expect(model).toMatchObject({ object: 'model', owned_by: 'svc', created: expect.any(Number) });
      ids.push(model.id);
    }
    expect(ids).toEqual(
      expect.arrayContaining(['tiny', 'agent', 'utility', 'agent-hermes', 'svc/agent', 'svc/utility']),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(['tiny', 'agent', 'agent-hermes', 'svc/agent'])('models.retrieve %s', async (id) => {
    expect(await openai.models.retrieve(id)).toMatchObject({ id, object: 'model', owned_by: 'svc' });
  });

  it('an unknown model is NotFoundError with our code', async () => {
    const error = await failure(openai.models.retrieve('svc/unknown'), NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'model.not_found', type: 'invalid_request_error' });
  });

  it('open routes need no key', async () => {
    expect((await openaiClient(gateway, { apiKey: 'wrong' }).models.list()).data.length).toBeGreaterThan(0);
  });
});

describe('chat.completions', () => {
  it('create: text, finish reason, usage, ids', async () => {
    const { data, response, request_id } = await openai.chat.completions
      .create({ model: 'agent', messages: [user('Hello!')], temperature: 0 })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: 'tiny',
      choices: [{ index: 0, message: { role: 'assistant', content: TINY_REPLY }, finish_reason: 'stop' }],
    });
    expect(data.id).toMatch(/^chatcmpl-/);
    const { prompt_tokens, completion_tokens, total_tokens } = data.usage ?? {};
    expect(prompt_tokens).toBe('Hello!'.length);
    expect(total_tokens).toBe((prompt_tokens ?? 0) + (completion_tokens ?? 0));
    expect(request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(data).toHaveProperty('_request_id', request_id);
    expect(response.headers.get('x-svc-slot')).toBe('agent');
  });

  it('stream with include_usage: one id, role first, one finish reason, then the usage chunk', async () => {
    const stream = await openai.chat.completions.create({
      model: 'svc/agent',
      messages: [user('Hello!')],
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(TINY_REPLY);
    expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason).length).toBe(1);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 6 } });
  });

  it('without include_usage no chunk has empty choices', async () => {
    const stream = await openai.chat.completions.create({
      model: 'agent',
      messages: [user('Hello!')],
      stream: true,
    });
    for await (const chunk of stream) expect(chunk.choices.length).toBe(1);
  });

  it('the stream() helper assembles the whole response', async () => {
    const runner = openai.chat.completions.stream({ model: 'agent', messages: [user('.')], temperature: 0 });
    expect((await runner.finalChatCompletion()).choices[0]?.message.content).toBe(TINY_REPLY);
    expect((await runner.totalUsage()).total_tokens).toBeGreaterThanOrEqual(0);
  });

  it('an alias, the legacy alias, a virtual name and the model id reach the same model', async () => {
    for (const model of ['agent', 'agent-hermes', 'svc/agent', 'svc/utility', 'svc/npu', 'tiny']) {
      const response = await openai.chat.completions.create({
        model,
        messages: [user('x')],
        max_tokens: 2,
        temperature: 0,
      });
      expect(response.choices[0]?.message.content, model).toBe('yz');
      expect(response.model, model).toBe('tiny');
    }
  });
});

describe('completions', () => {
  it('create and stream', async () => {
    const body = { model: 'agent', prompt: 'x', max_tokens: 3, temperature: 0 };
    const response = await openai.completions.create(body);
    expect(response).toMatchObject({
      object: 'text_completion',
      model: 'tiny',
      choices: [{ index: 0, text: 'yza', finish_reason: 'length' }],
      usage: { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 },
    });
    let text = '';
    for await (const chunk of await openai.completions.create({ ...body, stream: true })) {
      text += chunk.choices[0]?.text ?? '';
    }
    expect(text).toBe('yza');
  });
});

describe('error classes', () => {
  const complete = (api: OpenAI, model = 'agent') =>
    api.chat.completions.create({ model, messages: [user('.')], max_tokens: 1 });

  it('a wrong key is AuthenticationError, without a retry', async () => {
    const { api, statuses } = countingClient(gateway, { apiKey: 'wrong-key-123', maxRetries: 2 });
    const error = await failure(complete(api), AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      code: 'auth.required',
      type: 'authentication_error',
      param: null,
    });
    expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.message).not.toContain('wrong-key-123');
    expect(statuses).toEqual([401]);
  });

  it('a foreign Origin is PermissionDeniedError', async () => {
    const api = openaiClient(gateway, { defaultHeaders: { origin: 'http://elsewhere.example' } });
    const error = await failure(complete(api), PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: 'auth.origin_forbidden', type: 'permission_error' });
  });

  it('a client key on an admin route is PermissionDeniedError', async () => {
    const api = openaiClient(gateway, { baseURL: `${gateway.url}/api` });
    const error = await failure(api.get('/settings'), PermissionDeniedError);
    expect(error.code).toBe('auth.forbidden');
  });

  it('an unknown chat model is NotFoundError with similar names', async () => {
    const error = await failure(complete(openai, 'agnet'), NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'dispatch.no_route', param: 'model' });
    const { details } = error.error as { details: { suggestions: string[] } };
    expect(details.suggestions).toContain('agent');
  });

  it('a body without messages is a 4xx error with the field in details', async () => {
    const error = await failure(openai.chat.completions.create({ model: 'agent' } as never), APIError);
    expect(error.status).toBe(422);
    expect(error.code).toBe('request.invalid');
    expect((error.error as { details: unknown }).details).toMatchObject({ fields: [{ path: 'messages' }] });
  });

  it('a prompt longer than the window is BadRequestError context_length_exceeded, with the numbers', async () => {
    const prompt = 'x'.repeat(WINDOW + 10);
    const error = await failure(
      openai.chat.completions.create({ model: 'agent', messages: [user(prompt)] }),
      BadRequestError,
    );
    expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded' });
    expect(error.message).toMatch(/context/i);
    expect(error.error).toMatchObject({ n_prompt_tokens: prompt.length, n_ctx: WINDOW });
  });

  it('embeddings of a chat model are ConflictError', async () => {
    const error = await failure(openai.embeddings.create({ model: 'tiny', input: 'x' }), ConflictError);
    expect(error).toMatchObject({ status: 409, code: 'dispatch.capability_mismatch', param: 'model' });
  });

  it('a field that the engine does not support is UnprocessableEntityError that names it', async () => {
    const error = await failure(
      openai.chat.completions.create({ model: 'agent', messages: [user('.')], web_search_options: {} }),
      UnprocessableEntityError,
    );
    expect(error.param).toBe('web_search_options');
  });
});
