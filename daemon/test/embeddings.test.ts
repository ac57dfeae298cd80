/** Embeddings, rerank and automatic slots over a real port: the official `openai` client, real llama.cpp, tiny models. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { BadRequestError, ConflictError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { V1ModelRecord } from '../contract/models.ts';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../models/testing/gguf/tiny-rerank.ts';
import { startGateway, until } from './harness/gateway.ts';
import { putModel } from './harness/home.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openaiClient } from './harness/openai.ts';
import { slots, waitForSlotState } from './harness/slots.ts';

const SIZE = 64;
const CAT = 'the cat sat on the mat';
const NEAR = 'a cat is on a mat';
const FAR = 'quantum flux xylophone';
const DOCUMENTS = [FAR, CAT, 'a dog barks'];

const gateway = new OneGateway(() =>
  startGateway({
    models: {
      'chat-one': tinyChat({ reply: 'one speaks' }),
      'Chat.Two': tinyChat({ reply: 'two answers' }),
      vectors: tinyEmbed({ size: SIZE }),
      ranks: tinyRerank(),
    },
    files: { 'config/slots/agent.toml': 'model = "chat-one"\ncontext = 1024\n' },
  }),
);
let openai: OpenAI;
beforeAll(async () => {
  openai = openaiClient(gateway, { apiKey: 'none' });
  await waitForSlotState(gateway, 'agent', 'ready');
});

const dot = (a: readonly number[] = [], b: readonly number[] = []) =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
const post = (path: string, body: object) => send(gateway, 'POST', path, { body });
const listedIds = async () =>
  (await send(gateway, 'GET', '/v1/models')).json<{ data: V1ModelRecord[] }>().data.map(({ id }) => id);

describe('slots and models', () => {
  it('every model has a slot, automatic unless a file names it, and none is loaded', async () => {
    const summary = (await slots(gateway)).map(({ name, model, type, auto }) => ({
      name,
      model,
      type,
      auto,
    }));
    expect(summary).toHaveLength(4);
    expect(summary).toEqual(
      expect.arrayContaining([
        { name: 'agent', model: 'chat-one', type: 'llm', auto: false },
        { name: 'chat-two', model: 'Chat.Two', type: 'llm', auto: true },
        { name: 'embed', model: 'vectors', type: 'embedding', auto: true },
        { name: 'rerank', model: 'ranks', type: 'rerank', auto: true },
      ]),
    );
    expect((await slots(gateway)).filter(({ auto, state }) => auto && state !== 'offline')).toEqual([]);
  });

  it('the list has models, aliases and virtual names', async () => {
    const ids = await listedIds();
    for (const id of ['chat-one', 'Chat.Two', 'vectors', 'ranks', 'embed', 'svc/embed', 'chat-two'])
      expect(ids).toContain(id);
    const vectors = (await send(gateway, 'GET', '/v1/models/vectors')).json<V1ModelRecord>();
    expect(vectors).toMatchObject({ capabilities: { embeddings: true }, _svc: { slot: 'embed' } });
  });
});

describe('embeddings', () => {
  it('the official client, which requests base64, gets vectors in order', async () => {
    const response = await openai.embeddings.create({ model: 'vectors', input: [CAT, NEAR, FAR] });
    const [cat, near, far] = response.data.map(({ embedding }) => embedding);
    expect(response.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    for (const vector of [cat, near, far]) {
      expect(vector).toHaveLength(SIZE);
      expect(dot(vector, vector)).toBeCloseTo(1, 4);
    }
    expect(dot(cat, near)).toBeGreaterThan(dot(cat, far) + 0.2);
    expect(response.model).toBe('vectors');
    expect(response.usage.prompt_tokens).toBeGreaterThan(10);
  });

  it('floats and base64 are the same vector', async () => {
    const coded = await openai.embeddings.create({ model: 'vectors', input: CAT });
    const plain = await openai.embeddings.create({ model: 'vectors', input: CAT, encoding_format: 'float' });
    expect(plain.data[0]?.embedding.map(Math.fround)).toEqual(coded.data[0]?.embedding);
  });

  it.each([undefined, 'embed', 'svc/embed', 'vectors', 'text-embedding-3-small'])(
    'model %s means the same slot',
    async (model) => {
      const response = await post('/v1/embeddings', { model, input: CAT });
      expect([response.status, response.headers['x-svc-slot']]).toEqual([200, 'embed']);
      expect(response.json()).toMatchObject({ object: 'list', model: 'vectors' });
    },
  );

  it('accepts token ids', async () => {
    const response = await post('/v1/embeddings', { input: [[100, 101], [102]] });
    expect(response.json<{ data: unknown[] }>().data).toHaveLength(2);
  });

  it('hundreds of short requests at once are all served', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `part ${index} of a document`);
    const statuses = await Promise.all(
      texts.map(async (input) => (await post('/v1/embeddings', { model: 'embed', input })).status),
    );
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('a text that is too long, other dimensions and an empty text are rejected with the reason', async () => {
    const long = openai.embeddings.create({ model: 'vectors', input: 'x '.repeat(600) });
    await expect(long).rejects.toThrow(BadRequestError);
    await expect(long).rejects.toMatchObject({ code: 'context_length_exceeded' });
    const short = openai.embeddings.create({ model: 'vectors', input: CAT, dimensions: 8 });
    await expect(short).rejects.toMatchObject({ status: 422, param: 'dimensions' });
    await expect(openai.embeddings.create({ model: 'vectors', input: '' })).rejects.toMatchObject({
      status: 422,
      param: 'input',
    });
  });

  it('the request log has the slot and the tokens', async () => {
    await post('/v1/embeddings', { model: 'vectors', input: CAT });
    const { recent } = (await send(gateway, 'GET', '/api/requests')).json<{
      recent: { route: string; slot: string; prompt_tokens: number | null }[];
    }>();
    const last = recent.find(({ route }) => route === '/v1/embeddings');
    expect(last?.slot).toBe('embed');
    expect(last?.prompt_tokens).toBeGreaterThan(5);
  });
});

describe('rerank', () => {
  const body = { model: 'ranks', query: 'cat on mat', documents: DOCUMENTS };
  type Results = { results: { index: number; relevance_score: number; document?: { text: string } }[] };

  it.each(['/v1/rerankings', '/v1/rerank', '/v1/reranking'])('%s returns the best first', async (path) => {
    const response = await post(path, body);
    expect([response.status, response.headers['x-svc-slot']]).toEqual([200, 'rerank']);
    expect(response.json()).toMatchObject({ object: 'list', model: 'ranks' });
    expect(response.json<Results>().results.map(({ index }) => index)).toEqual([1, 2, 0]);
  });

  it('/v1/score has the same scores in the order of the texts', async () => {
    const ranked = (await post('/v1/rerank', body)).json<Results>().results;
    const { model, query, documents } = body;
    const response = await post('/v1/score', { model, text_1: query, text_2: documents });
    expect([response.status, response.headers['x-svc-slot']]).toEqual([200, 'rerank']);
    const { data } = response.json<{ data: { index: number; score: number }[] }>();
    expect(data.map(({ index, score }) => [index, score])).toEqual(
      ranked.sort((a, b) => a.index - b.index).map((each) => [each.index, each.relevance_score]),
    );
    const omitted = await post('/v1/score', { text_1: query, text_2: DOCUMENTS[0] });
    expect([omitted.status, omitted.headers['x-svc-slot']]).toEqual([200, 'rerank']);
  });

  it('top_n and return_documents', async () => {
    const { model: _, ...omitted } = body;
    const response = await post('/v1/rerankings', { ...omitted, top_n: 1, return_documents: true });
    expect(response.json<Results>().results).toMatchObject([{ index: 1, document: { text: CAT } }]);
  });

  it.each([
    [{ query: 'cat', documents: [] }, 'documents'],
    [{ documents: DOCUMENTS }, 'query'],
  ])('%j is refused', async (wrong, param) => {
    const response = await post('/v1/rerank', wrong);
    expect([response.status, response.json<{ error: { param: string } }>().error.param]).toEqual([
      422,
      param,
    ]);
  });
});

describe('a model without the capability', () => {
  it.each([
    ['/v1/chat/completions', { model: 'vectors', messages: [{ role: 'user', content: 'hi' }] }],
    ['/v1/chat/completions', { model: 'ranks', messages: [{ role: 'user', content: 'hi' }] }],
    ['/v1/embeddings', { model: 'chat-one', input: 'hi' }],
    ['/v1/embeddings', { model: 'ranks', input: 'hi' }],
    ['/v1/rerank', { model: 'vectors', query: 'a', documents: ['b'] }],
    ['/v1/score', { model: 'vectors', text_1: 'a', text_2: 'b' }],
  ])('%s %j is 409', async (path, body) => {
    const response = await post(path, body);
    expect([response.status, response.code]).toEqual([409, 'dispatch.capability_mismatch']);
  });

  it('the official client throws ConflictError', async () => {
    const wrong = openai.embeddings.create({ model: 'agent', input: 'hi' });
    await expect(wrong).rejects.toThrow(ConflictError);
  });
});

describe('other chat models', () => {
  const chat = (model: string) =>
    post('/v1/chat/completions', { model, messages: [{ role: 'user', content: '.' }], temperature: 0 });
  const text = (response: { json<T>(): T }) =>
    response.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content;

  it('requesting one by its id loads it; agent keeps its model', async () => {
    const two = await chat('Chat.Two');
    expect([two.status, two.headers['x-svc-slot'], text(two)]).toEqual([200, 'chat-two', 'two answers']);
    for (const name of ['agent', 'chat-one']) expect(text(await chat(name))).toBe('one speaks');
    for (const name of ['chat-two', 'svc/chat-two']) expect(text(await chat(name))).toBe('two answers');
  });
});

describe('added and removed models', () => {
  const names = async () => (await slots(gateway)).map(({ name }) => name);
  const rescan = async (condition: () => Promise<boolean>, description: string) => {
    gateway.signal('SIGHUP');
    await until(condition, description);
  };

  it('a new one is served by its id without taking slot embed; a deleted one is removed', async () => {
    putModel(gateway.home, 'a-vectors', tinyEmbed({ size: 32 }));
    await rescan(async () => (await names()).includes('a-vectors'), 'the new slot');
    const wide = await openai.embeddings.create({ model: 'embed', input: CAT });
    const slim = await openai.embeddings.create({ model: 'a-vectors', input: CAT });
    expect([wide, slim].map(({ data }) => data[0]?.embedding.length)).toEqual([SIZE, 32]);
    rmSync(join(gateway.home, 'state', 'models', 'a-vectors.gguf'));
    await rescan(async () => !(await names()).includes('a-vectors'), 'the slot to be gone');
    expect(await listedIds()).not.toContain('a-vectors');
  });

  it('embed keeps its model across a restart; a slot file of that name only adds settings', async () => {
    putModel(gateway.home, 'a-vectors', tinyEmbed({ size: 32 }));
    await rescan(async () => (await names()).includes('a-vectors'), 'the new slot');
    writeFileSync(join(gateway.home, 'config', 'slots', 'embed.toml'), 'context = 256\n');
    expect(await gateway.stop()).toBe(0);
    await gateway.replace(() => startGateway({ home: gateway.home }));
    await until(async () => (await names()).length === 5, 'all slots');
    const embed = (await slots(gateway)).find(({ name }) => name === 'embed');
    expect(embed).toMatchObject({ model: 'vectors', type: 'embedding', auto: false });
    const response = await post('/v1/embeddings', { input: 'x '.repeat(300), model: 'embed' });
    expect(response.code).toBe('context_length_exceeded');
    expect(response.text).toContain('256');
  });

  it('the engine log names the model without its path', () => {
    const log = join(gateway.home, 'state', 'logs', 'rerank.log');
    expect(existsSync(log)).toBe(true);
    expect(readFileSync(log, 'utf8')).toContain('started ranks');
    expect(readFileSync(log, 'utf8')).not.toContain(gateway.home);
  });
});
