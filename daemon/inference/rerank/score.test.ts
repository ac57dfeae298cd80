import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SCORE_SIDES } from '../../contract/score.ts';
import { parseScoreRequest, rerankOfScore } from './score-request.ts';
import { scorePath, scoresOf } from './score-task.ts';

const parse = (body: object) => parseScoreRequest(Buffer.from(JSON.stringify(body)));
const TARGET = {
  rerankApi: 'common',
  rawRerank: false,
  hasScore: false,
  upstream: 'desk',
  slot: null,
} as const;
const TEXTS = ['a', 'b', 'c'];

test.each(SCORE_SIDES)('reads %s and %s', (first, second) => {
  const request = parse({ model: 'm', [first]: 'q', [second]: TEXTS, truncate_prompt_tokens: 9 });
  expect(request).toEqual({
    names: [first, second],
    sides: ['q', TEXTS],
    others: { truncate_prompt_tokens: 9 },
  });
  expect(rerankOfScore(request, 'Slot x')).toEqual({
    query: 'q',
    documents: TEXTS,
    topN: 3,
    returnDocuments: false,
    others: { truncate_prompt_tokens: 9 },
  });
});

test.each([
  [{}, 'text_1'],
  [{ text_1: 'q' }, 'text_2'],
  [{ text_2: 'q' }, 'text_1'],
  [{ data_2: ['q'] }, 'data_1'],
  [{ queries: ['q'] }, 'documents'],
  [{ text_1: null, text_2: null }, 'text_1'],
  [{ text_1: 'q', text_2: [] }, 'text_2'],
  [{ text_1: 'q', text_2: 5 }, 'text_2'],
  [{ text_1: 'q', text_2: Array(2049).fill('x') }, 'text_2'],
  [{ text_1: ['a', 'b'], text_2: ['c'] }, 'text_2'],
  [{ text_1: ['a', 'b'], text_2: 'c' }, 'text_2'],
])('%j is refused: %s', (body, param) => {
  expect(() => parse(body)).toThrowError(
    expect.objectContaining({ code: 'request.invalid', options: expect.objectContaining({ param }) }),
  );
});

test.each([
  [{ text_1: ['a', 'b'], text_2: ['c', 'd'] }],
  [{ text_1: { content: [] }, text_2: ['c'] }],
  [{ text_1: 'q', text_2: [{ content: [] }] }],
])('%j has no rerank request with the same scores', (body) => {
  expect(() => rerankOfScore(parse(body), 'Upstream desk')).toThrowError(
    expect.objectContaining({
      code: 'dispatch.capability_mismatch',
      message: expect.stringContaining('Upstream desk has no /v1/score'),
    }),
  );
});

test('every order of the ranking gives the scores in the order of the texts', () => {
  const order = fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(order, fc.boolean(), (keys, rawRerank) => {
      const texts = keys.map((key) => `text ${key}`);
      const request = parse({ text_1: 'q', text_2: texts });
      const results = keys
        .map((key, index) => ({ index, relevance_score: key / 20 }))
        .sort((a, b) => b.relevance_score - a.relevance_score);
      const bytes = Buffer.from(JSON.stringify({ results, usage: { prompt_tokens: 4, total_tokens: 4 } }));
      const answer = JSON.parse(scoresOf(bytes, request, { ...TARGET, rawRerank }, 'm').toString());
      expect(answer).toMatchObject({ object: 'list', model: 'm', usage: { prompt_tokens: 4 } });
      expect(answer.data).toEqual(keys.map((key, index) => ({ index, object: 'score', score: key / 20 })));
    }),
  );
});

test('raw scores are mapped to 0 to 1, and a text without a score is an error', () => {
  const request = parse({ text_1: 'q', text_2: ['a', 'b'] });
  const answer = (...scores: number[]) =>
    scoresOf(
      Buffer.from(JSON.stringify(scores.map((score, index) => ({ index, score })))),
      request,
      { ...TARGET, rawRerank: true },
      'm',
    );
  expect(JSON.parse(answer(0, 4).toString()).data.map(({ score }: { score: number }) => score)).toEqual([
    0.5,
    expect.closeTo(0.98201, 5),
  ]);
  expect(() => answer(0.5)).toThrowError(expect.objectContaining({ code: 'upstream.error' }));
});

test.each([
  [{ base: '/v1', rerankApi: 'common', hasScore: true }, undefined],
  [{ base: '/v1', rerankApi: 'score', hasScore: true }, undefined],
  [{ base: '/v1', rerankApi: 'common', hasScore: false }, '/v1/rerank'],
  [{ base: '/api/v1', rerankApi: 'common', hasScore: false }, '/api/v1/rerank'],
  [{ base: '/v1', rerankApi: 'tei', hasScore: false }, '/rerank'],
] as const)('%j is requested at %s', (target, path) => {
  expect(scorePath(target)).toBe(path);
});
