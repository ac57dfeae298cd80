import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tinyRerank } from '../../models/testing/gguf/tiny-rerank.ts';
import { type ForkedWorker, forkWorker, modelFile } from './testing/forked-worker.ts';

interface Answer {
  status: number;
  object: string;
  model: string;
  results: {
    index: number;
    relevance_score: number;
    document?: { text: string };
    _svc?: { raw_score: number };
  }[];
  usage: { prompt_tokens: number; total_tokens: number };
  error?: { code: string; message: string; param: string; n_prompt_tokens?: number; n_ctx?: number };
}

const QUERY = 'cat on mat';
const DOCUMENTS = ['quantum flux xylophone', 'the cat sat on the mat', 'a dog barks'];

let worker: ForkedWorker;
let file: Awaited<ReturnType<typeof modelFile>>;

beforeAll(async () => {
  file = await modelFile(tinyRerank());
  worker = await forkWorker(file.path, { kind: 'rerank' });
  await worker.ready;
}, 30_000);
afterAll(async () => {
  await worker.stop();
  await file.remove();
});

const request = async (body: object, path = '/v1/rerank'): Promise<Answer> => {
  const response = await worker.post(path, body);
  return { ...((await response.json()) as Answer), status: response.status };
};

describe('ranking', () => {
  test('the best document comes first, with its index in the request', async () => {
    const answer = await request({ query: QUERY, documents: DOCUMENTS });
    expect(answer).toMatchObject({ status: 200, object: 'list', model: 'tiny' });
    expect(answer.results.map(({ index }) => index)).toEqual([1, 2, 0]);
    const scores = answer.results.map(({ relevance_score }) => relevance_score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(answer.results[0]).not.toHaveProperty('document');
    expect(answer.usage.prompt_tokens).toBeGreaterThan(20);
  });

  test("a score is from 0 to 1, next to the raw output of the model's head", async () => {
    const { results } = await request({ query: QUERY, documents: DOCUMENTS });
    expect(results[0]?._svc?.raw_score).toBeGreaterThan(1);
    for (const { relevance_score, _svc } of results) {
      expect(relevance_score).toBeGreaterThan(0);
      expect(relevance_score).toBeLessThan(1);
      expect(1 / (1 + Math.exp(-(_svc?.raw_score ?? 0)))).toBeCloseTo(relevance_score, 5);
    }
  });

  test('top_n limits the list, return_documents includes the texts', async () => {
    const documents = DOCUMENTS.map((text) => ({ text, source: 'x' }));
    const { results } = await request({ query: QUERY, documents, top_n: 2, return_documents: true });
    expect(results.map(({ document }) => document)).toEqual([{ text: DOCUMENTS[1] }, { text: DOCUMENTS[2] }]);
    expect((await request({ query: QUERY, documents, top_n: 99 })).results).toHaveLength(3);
  });

  test('all paths of the route respond the same', async () => {
    const body = { query: QUERY, documents: DOCUMENTS };
    const first = await request(body);
    for (const path of ['/v1/rerankings', '/v1/reranking']) expect(await request(body, path)).toEqual(first);
  });

  test('a single document has the same score as among others', async () => {
    const { results } = await request({ query: QUERY, documents: DOCUMENTS });
    const alone = await request({ query: QUERY, documents: [DOCUMENTS[2]] });
    expect(alone.results[0]?.relevance_score).toBe(results[1]?.relevance_score);
  });
});

describe('refusals', () => {
  test.each([
    [{ documents: DOCUMENTS }, 'query'],
    [{ query: '', documents: DOCUMENTS }, 'query'],
    [{ query: QUERY }, 'documents'],
    [{ query: QUERY, documents: [] }, 'documents'],
    [{ query: QUERY, documents: [1] }, 'documents.0'],
    [{ query: QUERY, documents: Array(2_049).fill('a') }, 'documents'],
    [{ query: QUERY, documents: DOCUMENTS, top_n: 0 }, 'top_n'],
  ])('%j names %s', async (body, param) => {
    expect(await request(body)).toMatchObject({
      status: 422,
      error: { code: 'request.invalid', param, details: { fields: [{ path: param }] } },
    });
  });

  test('a document that exceeds the window is named with the numbers', async () => {
    const answer = await request({ query: QUERY, documents: ['a dog barks', 'x '.repeat(600)] });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: 'context_length_exceeded', param: 'documents', n_ctx: 512 },
    });
    expect(answer.error?.message).toContain('documents[1]');
    expect(answer.error?.n_prompt_tokens).toBeGreaterThan(600);
  });
});

test('a disconnect frees the engine', async () => {
  const leave = new AbortController();
  const body = { query: QUERY, documents: Array(2_000).fill(DOCUMENTS[1]) };
  const busy = worker.post('/v1/rerank', body, { signal: leave.signal }).catch(() => 'left');
  await expect.poll(async () => (await worker.health()).active).toBe(1);
  leave.abort();
  expect(await busy).toBe('left');
  await expect.poll(async () => (await worker.health()).active).toBe(0);
});
