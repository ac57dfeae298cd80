/** Raw responses of /v1 against the schemas that OpenAI publishes: whole responses, every chunk of a stream, every error. */
import { describe, expect, it } from 'vitest';
import { startForClients } from './harness/client-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { dataOf } from './harness/stream.ts';
import { breaches, extensions } from './openai-schemas/validate.ts';

const gateway = new OneGateway(startForClients);

const CHAT = '/v1/chat/completions';
const TEXT = '/v1/completions';
const EMBEDDINGS = '/v1/embeddings';
const post = (path: string, body: unknown) => send(gateway, 'POST', path, { body, key: CLIENT_KEY });
const get = (path: string) => send(gateway, 'GET', path, { key: CLIENT_KEY });

const user = (content: string) => [{ role: 'user', content }];
const hi = { messages: user('Hi!'), temperature: 0, max_tokens: 60 };
const parameters = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };
const tools = [{ type: 'function', function: { name: 'get_time', parameters } }];
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

const CHATS: Record<string, object> = {
  plain: hi,
  'truncated by max_tokens': { ...hi, max_tokens: 2 },
  'stop string': { ...hi, stop: 'tiny' },
  'two choices': { ...hi, n: 2 },
  probabilities: { ...hi, logprobs: true, top_logprobs: 4 },
  'probabilities without alternatives': { ...hi, logprobs: true },
  'a call': { ...hi, tools },
  'two calls': { ...hi, model: 'pair', tools },
  'a schema': { ...hi, response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
};

const TEXTS: Record<string, object> = {
  plain: { prompt: 'abc', max_tokens: 5, temperature: 0 },
  'two prompts': { prompt: ['abc', 'xyz'], max_tokens: 3, temperature: 0 },
  probabilities: { prompt: 'abc', max_tokens: 3, temperature: 0, logprobs: 2 },
  'to the end': { prompt: 'Hi!', max_tokens: 60, temperature: 0 },
};

/** Response fields beyond the schema: timings of the engine, which clients of llama.cpp read. */
const ALLOWED_EXTENSIONS = ['timings'];

async function checkWhole(path: string, definition: string, body: object): Promise<void> {
  const response = await post(path, { model: 'agent', ...body });
  expect(response.status, response.text).toBe(200);
  expect(breaches(definition, response.json())).toEqual([]);
  expect(extensions(definition, response.json())).toEqual(ALLOWED_EXTENSIONS);
}

/** The schema does not describe a completion chunk before the last one; OpenAI sends null there, as for chats. */
const NULL_FINISH_REASON =
  /^\/choices\/0\/finish_reason must be (string|equal to one of the allowed values)$/;

async function checkStreamed(path: string, definition: string, body: object): Promise<void> {
  for (const more of [{}, { stream_options: { include_usage: true } }]) {
    const response = await post(path, { model: 'agent', ...body, stream: true, ...more });
    const data = dataOf(response.text);
    expect(data.pop()).toBe('[DONE]');
    expect(data.length).toBeGreaterThan(1);
    for (const each of data) {
      const isUnfinished = path === TEXT && JSON.parse(each).choices[0]?.finish_reason === null;
      const found = breaches(definition, JSON.parse(each)).filter(
        (breach) => !(isUnfinished && NULL_FINISH_REASON.test(breach)),
      );
      expect(found, each).toEqual([]);
      const beyond = extensions(definition, JSON.parse(each));
      expect(ALLOWED_EXTENSIONS, each).toEqual(expect.arrayContaining(beyond));
    }
  }
}

describe.each(Object.entries(CHATS))('chat: %s', (_, body) => {
  it('whole', () => checkWhole(CHAT, 'CreateChatCompletionResponse', body));
  it('every chunk', () => checkStreamed(CHAT, 'CreateChatCompletionStreamResponse', body));
});

describe('a chat with tools of the gateway', () => {
  const body = { ...hi, model: 'agent', omni: true };

  it('whole', async () => {
    const json = (await post(CHAT, body)).json();
    expect(breaches('CreateChatCompletionResponse', json)).toEqual([]);
    expect(extensions('CreateChatCompletionResponse', json)).toEqual(['_svc']);
  });

  it('every chunk', async () => {
    const response = await post(CHAT, { ...body, stream: true, stream_options: { include_usage: true } });
    const data = dataOf(response.text);
    expect(data.pop()).toBe('[DONE]');
    for (const each of data) {
      expect(breaches('CreateChatCompletionStreamResponse', JSON.parse(each)), each).toEqual([]);
      expect(['_svc'], each).toEqual(
        expect.arrayContaining(extensions('CreateChatCompletionStreamResponse', JSON.parse(each))),
      );
    }
  });
});

describe.each(Object.entries(TEXTS))('completions: %s', (_, body) => {
  it('whole', () => checkWhole(TEXT, 'CreateCompletionResponse', body));
  it('every chunk', () => checkStreamed(TEXT, 'CreateCompletionResponse', body));
});

describe('embeddings', () => {
  it.each([
    ['one text', 'the cat'],
    ['several', ['the cat', 'a dog']],
    ['tokens', [[100, 101]]],
  ])('%s', async (_, input) => {
    const response = await post(EMBEDDINGS, { model: 'vectors', input, encoding_format: 'float' });
    expect(breaches('CreateEmbeddingResponse', response.json())).toEqual([]);
    expect(extensions('CreateEmbeddingResponse', response.json())).toEqual([]);
  });
});

describe('models', () => {
  /** Fields that apps read in addition to the four of the schema. */
  const ALLOWED_FIELDS = [
    '_svc',
    'architecture',
    'capabilities',
    'context_length',
    'description',
    'max_model_len',
    'meta',
    'name',
    'pricing',
    'supported_parameters',
  ];

  it('the list, and each of its records alone', async () => {
    const list = (await get('/v1/models')).json<{ data: { id: string }[] }>();
    expect(breaches('ListModelsResponse', list)).toEqual([]);
    expect(list.data.length).toBeGreaterThan(5);
    for (const { id } of list.data) {
      const record = (await get(`/v1/models/${encodeURIComponent(id)}`)).json();
      expect(breaches('Model', record), id).toEqual([]);
      const beyond = extensions('Model', record);
      expect(ALLOWED_FIELDS, id).toEqual(expect.arrayContaining(beyond));
    }
  });
});

describe('errors', () => {
  it.each<[string, string, string, unknown]>([
    ['no JSON', 'POST', CHAT, '{"messages":'],
    ['no messages', 'POST', CHAT, {}],
    ['a field of the wrong type', 'POST', CHAT, { ...hi, temperature: 'hot' }],
    ['an unknown model', 'POST', CHAT, { ...hi, model: 'no-such-model' }],
    ['a model without the capability', 'POST', EMBEDDINGS, { model: 'agent', input: 'x' }],
    ['a prompt too long', 'POST', CHAT, { ...hi, messages: user('x'.repeat(3_000)) }],
    ['an unknown model by id', 'GET', '/v1/models/unknown', undefined],
    ['no such route', 'GET', '/v1/nowhere', undefined],
    ['no such method', 'DELETE', CHAT, undefined],
  ])('%s', async (_, method, path, body) => {
    const headers = { 'content-type': 'application/json' };
    const response = await send(gateway, method, path, { body, key: CLIENT_KEY, headers });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(breaches('ErrorResponse', response.json()), response.text).toEqual([]);
  });

  it('a wrong key', async () => {
    const response = await send(gateway, 'POST', CHAT, { body: hi, key: 'wrong-key-123' });
    expect(response.status).toBe(401);
    expect(breaches('ErrorResponse', response.json()), response.text).toEqual([]);
  });
});

describe('the check itself', () => {
  it('finds what is wrong', () => {
    expect(breaches('CreateEmbeddingResponse', { object: 'list', model: 7, data: [] })).toEqual([
      " must have required property 'usage'",
      '/model must be string',
    ]);
    expect(extensions('Model', { id: 'x', own: 1 })).toEqual(['own']);
    expect(() => breaches('Nothing', {})).toThrow('no definition');
  });
});
