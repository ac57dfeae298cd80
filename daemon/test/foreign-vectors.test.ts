/**
 * Embeddings and rerank on other engines and upstreams: STAND-INS for vLLM, FastFlowLM, a custom server, TEI and providers
 * that answer in their published formats. e2e/system/engines/foreign-vectors.test.ts tests a real llama-server.
 */
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import { startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openaiClient } from './harness/openai.ts';
import { expectRanking } from './harness/ranking.ts';
import { slot } from './harness/slots.ts';
import { type ReceivedRequest, type StandIn, standIn } from './harness/stand-in.ts';
import { CLOUD, CUSTOM, FLM, LLAMA, RAY, TEI, type VectorRequest, VLLM } from './harness/vector-stand-ins.ts';

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';
const SCORE = '/v1/score';

let openai: OpenAI;
const servers: Record<string, StandIn> = {};

const attached = (engine: string, type: string, server: StandIn, model: string, more = '') =>
  `engine = "${engine}"\ntype = "${type}"\nrunner = "attach"\nurl = "${server.url}"\nmodel = "${model}"\n${more}`;

beforeAll(async () => {
  for (const [name, handler] of Object.entries({
    vllm: VLLM,
    flm: FLM,
    custom: CUSTOM,
    tei: TEI,
    cloud: CLOUD,
    ray: RAY,
    llama: LLAMA,
  }))
    servers[name] = await standIn(handler);
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));

const gateway = new OneGateway(() => {
  const at = (name: string) => servers[name] as StandIn;
  return startGateway({
    files: {
      'config/slots/agent.toml': 'autoload = false\n',
      'config/slots/embed.toml': attached(
        'flm',
        'embedding',
        at('flm'),
        'embed-gemma:300m',
        'dimensions = [2]\n',
      ),
      'config/slots/big.toml': attached('vllm', 'embedding', at('vllm'), 'big-vectors'),
      'config/slots/order.toml': attached('vllm', 'rerank', at('vllm'), 'big-ranks'),
      'config/slots/own.toml': attached('custom', 'embedding', at('custom'), 'own-vectors'),
      'config/slots/own-order.toml': attached('custom', 'rerank', at('custom'), 'own-ranks'),
      'config/slots/idle.toml': attached(
        'custom',
        'rerank',
        at('custom'),
        'idle-ranks',
        'autoload = false\n',
      ),
      'config/upstreams/tei.toml': `base_url = "${at('tei').url}"\nkind = "tei"\nmodels = ["tei-ranks"]\n`,
      'config/upstreams/ray.toml': `base_url = "${at('ray').url}"\nkind = "vllm"\n`,
      'config/upstreams/llama.toml': `base_url = "${at('llama').url}"\nkind = "llama-server"\n`,
      'config/upstreams/vllm.toml': `base_url = "${at('vllm').url}"\nkind = "vllm"\nmodels = ["up-ranks"]\n`,
      'config/upstreams/cloud.toml': `base_url = "${at('cloud').url}"\nremote = true\nmodels = ["far-vectors", "far-ranks"]\n`,
    },
  });
});
beforeAll(() => {
  openai = openaiClient(gateway, { apiKey: 'none' });
});

const post = (path: string, body: object) => send(gateway, 'POST', path, { body });
const lastRequest = (name: string) => servers[name]?.requests.at(-1) as ReceivedRequest;
type Vectors = { data: { index: number; embedding: number[] | string }[] };
describe('engines that always return floats (stand-ins)', () => {
  it.each([
    ['svc/big', 'vllm', 'big-vectors'],
    ['svc/own', 'custom', 'own-vectors'],
    ['embed', 'flm', 'embed-gemma:300m'],
  ])('%s: the official client decodes the right numbers', async (slot, server, model) => {
    const response = await openai.embeddings.create({ model: slot, input: ['a', 'b'] });
    expect(response.data.map(({ embedding }) => embedding)).toEqual([
      [3, 4, 12],
      [3, 4, 12],
    ]);
    expect(response).toMatchObject({ object: 'list', model });
    const body = JSON.parse(lastRequest(server).body) as Record<string, unknown>;
    expect(body).toEqual({ model, input: ['a', 'b'], encoding_format: 'base64' });
  });

  it('token ids reach an engine that accepts them; otherwise the error names the field', async () => {
    expect(
      (await post(EMBEDDINGS, { model: 'svc/big', input: [[1, 2], [3]] })).json<Vectors>().data,
    ).toHaveLength(2);
    const refused = await post(EMBEDDINGS, { model: 'embed', input: [[1, 2], [3]] });
    expect(refused).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(refused.text).toContain('accepts text, not tokens');
  });

  it('limits and lengths: errors name the numbers', async () => {
    const many = await post(EMBEDDINGS, { model: 'svc/big', input: Array(2049).fill('x') });
    expect(many.status).toBe(422);
    expect(many.text).toContain('2049');
    const long = await post(EMBEDDINGS, { model: 'svc/big', input: 'too long' });
    expect(long).toMatchObject({ status: 400, code: 'context_length_exceeded' });
    expect(long.json()).toMatchObject({
      error: { param: 'input', details: { n_prompt_tokens: 600, n_ctx: 512 } },
    });
    const other = await post(EMBEDDINGS, { model: 'svc/own', input: 'x', dimensions: 2 });
    expect(other.json()).toMatchObject({ error: { code: 'request.invalid', param: 'dimensions' } });
  });
});

describe('the NPU embed slot (stand-in)', () => {
  it.each([undefined, 'embed', 'svc/embed', 'embed-gemma:300m', 'embed-gemma-300m-flm'])(
    'is called directly on its own path with the native tag: model %s',
    async (model) => {
      const before = servers.flm?.requests.length ?? 0;
      const response = await post(EMBEDDINGS, { model, input: 'x', user: 'me' });
      expect(response).toMatchObject({
        status: 200,
        headers: { 'x-svc-slot': 'embed', 'x-svc-step': 'npu-embed' },
      });
      expect(response.json<Vectors>().data[0]?.embedding).toEqual([3, 4, 12]);
      const requests =
        servers.flm?.requests.slice(before).filter(({ body }) => body.includes('"user"')) ?? [];
      expect(requests.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual([
        ['POST', EMBEDDINGS, { model: 'embed-gemma:300m', input: 'x', user: 'me' }],
      ]);
    },
  );

  it('a declared dimension is requested in full and truncated by the gateway', async () => {
    const response = await post(EMBEDDINGS, { model: 'embed', input: 'x', dimensions: 2 });
    const vector = response.json<Vectors>().data[0]?.embedding as number[];
    expect(vector.map((value) => value.toFixed(5))).toEqual(['0.60000', '0.80000']);
    expect(JSON.parse(lastRequest('flm').body)).toEqual({ model: 'embed-gemma:300m', input: 'x' });
  });
});

describe('rerank in a common format (stand-ins)', () => {
  const body = { query: 'q', documents: ['a', { text: 'b' }, 'c'] };
  const expected = {
    'svc/order': [2, 1, 0],
    'svc/own-order': [0, 1, 2],
    'tei-ranks': [1, 2, 0],
    'far-ranks': [0, 1, 2],
  };

  it.each([
    ['svc/order', 'big-ranks'],
    ['svc/own-order', 'own-ranks'],
    ['tei-ranks', 'tei-ranks'],
    ['far-ranks', 'far-ranks'],
  ] as const)('%s', async (model, id) => {
    const all = expectRanking(await post('/v1/rerankings', { ...body, model }), id);
    expect(all.map(({ index }) => index)).toEqual(expected[model]);
    expect(all.every((each) => each.document === undefined)).toBe(true);
    const some = expectRanking(await post(RERANK, { ...body, model, top_n: 2, return_documents: true }), id);
    const texts = ['a', 'b', 'c'];
    expect(some.map(({ index, document }) => [index, document?.text])).toEqual(
      expected[model].slice(0, 2).map((index) => [index, texts[index]]),
    );
  });

  it('each is requested on its own path with its own fields', async () => {
    const lastBody = (name: string) => ({
      url: lastRequest(name).url,
      ...(JSON.parse(lastRequest(name).body) as VectorRequest),
    });
    const documents = ['a', 'b', 'c'];
    for (const model of ['svc/order', 'svc/own-order', 'tei-ranks', 'far-ranks'])
      await post('/v1/rerankings', { ...body, model, top_n: 2, return_documents: true });
    expect(lastBody('vllm')).toEqual({ url: RERANK, model: 'big-ranks', query: 'q', documents, top_n: 2 });
    expect(lastBody('custom')).toEqual({ url: RERANK, model: 'own-ranks', query: 'q', documents, top_n: 2 });
    expect(lastBody('tei')).toEqual({ url: '/rerank', query: 'q', texts: documents });
    expect(lastBody('cloud')).toEqual({
      url: '/v1/rerankings',
      model: 'far-ranks',
      query: 'q',
      documents,
      top_n: 2,
    });
  });

  it('Ray Serve LLM ranks by scores', async () => {
    const results = expectRanking(await post('/v1/rerankings', { ...body, model: 'ray-ranks' }), 'ray-ranks');
    expect(results.map(({ index }) => index)).toEqual([2, 1, 0]);
    expect(lastRequest('ray').url).toBe(SCORE);
    expect(JSON.parse(lastRequest('ray').body)).toEqual({
      model: 'ray-ranks',
      text_1: 'q',
      text_2: ['a', 'b', 'c'],
    });
  });

  it('an error of the engine keeps its message', async () => {
    const response = await post(RERANK, { model: 'tei-ranks', query: 'q', documents: Array(33).fill('x') });
    expect(response.status).toBe(413);
    expect(response.text).toContain('maximum allowed batch size 32');
  });
});

describe('scores (stand-ins)', () => {
  type Scores = { object: string; model: string; data: { index: number; object: string; score: number }[] };
  const body = { text_1: 'q', text_2: ['a', 'b', 'c'] };
  const scoresOf = async (model: string, more: object = {}) => {
    const response = await post(SCORE, { ...body, ...more, model });
    expect([response.status, response.text]).toEqual([200, expect.any(String)]);
    const { object, data } = response.json<Scores>();
    expect([object, ...new Set(data.map((each) => each.object))]).toEqual(['list', 'score']);
    expect(data.map(({ index }) => index)).toEqual(data.map((_, index) => index));
    return data.map(({ score }) => score);
  };

  it.each([
    ['svc/order', 'vllm', 'big-ranks'],
    ['up-ranks', 'vllm', 'up-ranks'],
    ['ray-ranks', 'ray', 'ray-ranks'],
  ])('%s: the route of vLLM gets the request unchanged', async (model, server, id) => {
    expect(await scoresOf(model, { truncate_prompt_tokens: 5 })).toEqual([0, 0.1, 0.2]);
    expect(lastRequest(server).url).toBe(SCORE);
    expect(JSON.parse(lastRequest(server).body)).toEqual({ ...body, truncate_prompt_tokens: 5, model: id });
    expect(await scoresOf(model, { text_1: ['x', 'y'], text_2: ['a', 'b'] })).toEqual([0, 0.1]);
  });

  it.each([
    ['svc/own-order', 'custom', RERANK, [1, 0, -1]],
    ['tei-ranks', 'tei', '/rerank', [0, 0.9, 0.2]],
    ['raw-ranks', 'llama', RERANK, [0.5, expect.closeTo(0.982, 3), expect.closeTo(0.99966, 5)]],
  ])('%s: becomes a rerank request', async (model, server, path, scores) => {
    expect(await scoresOf(model)).toEqual(scores);
    expect(lastRequest(server).url).toBe(path);
    const pairs = await post(SCORE, { model, text_1: ['x', 'y'], text_2: ['a', 'b'] });
    expect(pairs).toMatchObject({ status: 409, code: 'dispatch.capability_mismatch' });
    expect(pairs.text).toContain('has no /v1/score');
  });

  it('pairs that a target cannot score are refused before a load, and do not count against a daily limit', async () => {
    const usedToday = async () =>
      (await send(gateway, 'GET', '/api/upstreams/tei')).json<UpstreamRecord>().requests_today;
    const before = await usedToday();
    for (const model of ['svc/idle', 'tei-ranks']) {
      const pairs = await post(SCORE, { model, text_1: ['x', 'y'], text_2: ['a', 'b'] });
      expect(pairs).toMatchObject({ status: 409, code: 'dispatch.capability_mismatch' });
    }
    expect((await slot(gateway, 'idle')).state).toBe('offline');
    expect(await usedToday()).toBe(before);
  });

  it('limits, a chat model, and an upstream without the route', async () => {
    const many = await post(SCORE, { model: 'svc/order', text_1: 'q', text_2: Array(2049).fill('x') });
    expect(many).toMatchObject({ status: 422, code: 'request.invalid' });
    expect(many.json()).toMatchObject({ error: { param: 'text_2' } });
    expect(await post(SCORE, { ...body, model: 'embed' })).toMatchObject({
      status: 409,
      code: 'dispatch.capability_mismatch',
    });
    const long = await post(SCORE, { model: 'svc/order', text_1: 'q', text_2: ['too long'] });
    expect(long).toMatchObject({ status: 400, code: 'context_length_exceeded' });
    expect(long.json()).toMatchObject({ error: { param: 'text_2' } });
    const missing = await post(SCORE, { ...body, model: 'far-vectors' });
    expect(missing).toMatchObject({ status: 404, code: 'upstream.error' });
    expect(missing.text).toContain('has no /v1/score');
  });
});

it('a provider applies dimensions and encoding itself; its base64 is converted when floats were requested', async () => {
  const plain = await post(EMBEDDINGS, { model: 'far-vectors', input: 'x', dimensions: 3 });
  expect(plain.json<Vectors>().data[0]?.embedding).toEqual([0.5, 0.5, 0.5]);
  expect(JSON.parse(lastRequest('cloud').body)).toEqual({ model: 'far-vectors', input: 'x', dimensions: 3 });
});

it('a response that needs no change arrives byte for byte, with its tokens in the log', async () => {
  const body = { model: 'far-vectors', input: 'x', encoding_format: 'base64' };
  const response = await post(EMBEDDINGS, body);
  expect(response.text).toBe(
    '{"object":"list","model":"far-vectors","data":[{"object":"embedding","index":0,"embedding":"AAAAPwAAAD8AAAA/AAAAPw=="}],"usage":{"prompt_tokens":1,"total_tokens":1}}',
  );
  const { recent } = (await send(gateway, 'GET', '/api/requests')).json<{
    recent: { id: string; prompt_tokens: number | null }[];
  }>();
  const logged = recent.find(({ id }) => id === response.headers['x-request-id']);
  expect(logged?.prompt_tokens).toBe(1);
});
