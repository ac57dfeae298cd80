import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rankingOf } from './ranking.ts';
import { parseRerankRequest, type RerankRequest, rerankBody } from './rerank-request.ts';

const requestOf = (more: object = {}): RerankRequest =>
  parseRerankRequest(
    Buffer.from(JSON.stringify({ model: 'm', query: 'q', documents: ['a', { text: 'b' }, 'c'], ...more })),
  );
const ranked = (answer: unknown, request = requestOf()) =>
  JSON.parse(rankingOf(Buffer.from(JSON.stringify(answer)), request, 'ours').toString()) as {
    results: { index: number; relevance_score: number }[];
  };
const rawRanked = (scores: readonly number[]) =>
  JSON.parse(
    rankingOf(
      Buffer.from(
        JSON.stringify({ results: scores.map((relevance_score, index) => ({ index, relevance_score })) }),
      ),
      requestOf(),
      'ours',
      true,
    ).toString(),
  ).results as { index: number; relevance_score: number; _svc?: { raw_score: number } }[];

test.each([
  [
    [9, 0, -4],
    [0, 1, 2],
    [0.99987, 0.5, 0.01799],
  ],
  [
    [-12, -11, -10],
    [2, 1, 0],
    [0.0000454, 0.0000167, 0.00000614],
  ],
  [
    [50, 60, 70],
    [2, 1, 0],
    [1, 1, 1],
  ],
  [
    [0.2, 0.9, 1.5],
    [2, 1, 0],
    [0.81757, 0.71095, 0.54983],
  ],
  [
    [-0.1, 0.5, 0.6],
    [2, 1, 0],
    [0.64566, 0.62246, 0.47502],
  ],
])('raw scores %j become shares, best first', (scores, order, shares) => {
  const results = rawRanked(scores);
  expect(results.map(({ index }) => index)).toEqual(order);
  results.forEach(({ index, relevance_score, _svc }, at) => {
    expect(relevance_score).toBeCloseTo(shares[at] as number, 4);
    expect(_svc).toEqual({ raw_score: scores[index] });
  });
});

test.each([[[0, 1, 0.5]], [[0.2, 0.3, 0.4]], [[0, 0, 0]], [[1, 1, 1]]])('shares %j stay', (scores) => {
  for (const { index, relevance_score, _svc } of rawRanked(scores))
    expect([relevance_score, _svc]).toEqual([scores[index], undefined]);
});

test('the raw score of another gateway stays', () => {
  const results = [{ index: 0, relevance_score: 0.9, _svc: { raw_score: 2.2, other: 1 } }];
  expect(ranked({ results }).results).toEqual([{ index: 0, relevance_score: 0.9, _svc: { raw_score: 2.2 } }]);
});

const best = [
  { index: 2, relevance_score: 9 },
  { index: 0, relevance_score: 1 },
  { index: 1, relevance_score: -4 },
];

test.each([
  [
    'llama-server',
    { model: 'm', object: 'list', usage: { prompt_tokens: 7, total_tokens: 7 }, results: best },
  ],
  ['unsorted', { model: 'm', usage: { prompt_tokens: 7, total_tokens: 7 }, results: [...best].reverse() }],
  [
    'vLLM',
    {
      id: 'r',
      model: 'm',
      usage: { total_tokens: 7 },
      results: best.map((each) => ({ ...each, document: { text: '?' } })),
    },
  ],
  ['Voyage', { object: 'list', model: 'm', data: best, usage: { total_tokens: 7 } }],
  [
    'mixedbread',
    {
      model: 'm',
      data: best.map(({ index, relevance_score }) => ({ index, score: relevance_score, input: 'x' })),
      usage: { prompt_tokens: 7, total_tokens: 7 },
    },
  ],
  ['Cohere', { id: 'r', model: 'm', results: best, meta: { tokens: { input_tokens: 7 } } }],
])('%s is converted to the common shape', (_, answer) => {
  expect(ranked(answer)).toEqual({
    object: 'list',
    model: 'm',
    results: best,
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
});

test('TEI: a bare list, no model and no counts', () => {
  const answer = best.map(({ index, relevance_score }) => ({ index, score: relevance_score }));
  expect(ranked(answer)).toEqual({
    object: 'list',
    model: 'ours',
    results: best,
    usage: { prompt_tokens: 0, total_tokens: 0 },
  });
});

test('top_n and return_documents are applied by the gateway', () => {
  const request = requestOf({ top_n: 2, return_documents: true });
  expect(ranked({ results: best }, request).results).toEqual([
    { index: 2, relevance_score: 9, document: { text: 'c' } },
    { index: 0, relevance_score: 1, document: { text: 'a' } },
  ]);
  expect(ranked({ results: best }, requestOf({ top_n: 99 })).results).toHaveLength(3);
});

test('sorts by score, equal scores in request order, and returns at most top_n', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 25 }),
      (scores, top_n) => {
        const request = requestOf({ documents: scores.map(String), top_n });
        const answered = scores.map((relevance_score, index) => ({ index, relevance_score })).reverse();
        const { results } = ranked({ results: answered }, request);
        expect(results).toHaveLength(Math.min(top_n, scores.length));
        for (const [at, result] of results.entries()) {
          const next = results[at + 1];
          if (next === undefined) break;
          expect(next.relevance_score).toBeLessThanOrEqual(result.relevance_score);
          if (next.relevance_score === result.relevance_score)
            expect(next.index).toBeGreaterThan(result.index);
        }
      },
    ),
  );
});

test.each([
  ['no JSON'],
  [{}],
  [{ results: [] }],
  [[null]],
  [{ results: [{ index: 3, relevance_score: 1 }] }],
  [{ results: [{ index: -1, relevance_score: 1 }] }],
  [{ results: [{ index: 0, relevance_score: null }] }],
  [
    {
      results: [
        { index: 0, relevance_score: 1 },
        { index: 0, relevance_score: 2 },
      ],
    },
  ],
])('%j is not a ranking: 502', (answer) => {
  expect(() => ranked(answer)).toThrow(
    expect.objectContaining({ code: 'upstream.error', status: 502 }) as Error,
  );
});

test.each([
  [{ query: '' }, 'query'],
  [{ query: undefined }, 'query'],
  [{ documents: [] }, 'documents'],
  [{ documents: 'a' }, 'documents'],
  [{ documents: ['a', 5] }, 'documents'],
  [{ documents: Array(2049).fill('a') }, 'documents'],
  [{ top_n: 0 }, 'top_n'],
  [{ top_n: 1.5 }, 'top_n'],
  [{ return_documents: 'yes' }, 'return_documents'],
])('%# is refused with its field name', (more, param) => {
  expect(() => requestOf(more)).toThrow(
    expect.objectContaining({
      status: 422,
      code: 'request.invalid',
      options: expect.objectContaining({
        param,
        details: { fields: [{ path: expect.stringMatching(`^${param}`), reason: expect.any(String) }] },
      }),
    }) as Error,
  );
});

test('an engine gets texts under its own field names', () => {
  const request = requestOf({ top_n: 2, return_documents: true, max_tokens_per_doc: 9 });
  expect(JSON.parse(rerankBody(request, 'native', 'common').toString())).toEqual({
    model: 'native',
    query: 'q',
    documents: ['a', 'b', 'c'],
    top_n: 2,
    max_tokens_per_doc: 9,
  });
  expect(JSON.parse(rerankBody(request, 'native', 'tei').toString())).toEqual({
    query: 'q',
    texts: ['a', 'b', 'c'],
  });
});
