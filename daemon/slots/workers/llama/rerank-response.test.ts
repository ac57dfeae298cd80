import { expect, test } from 'vitest';
import { rerankAnswer } from './rerank-response.ts';

const request = { query: 'q', documents: ['a', 'b', 'c'], topN: null, returnDocuments: false };
const ranking = {
  scores: [
    { score: 0.5, raw: 0 },
    { score: 0.75, raw: 1.1 },
    { score: 0.5, raw: null },
  ],
  tokens: 9,
};

test('sorts best first, equal scores in request order', () => {
  expect(rerankAnswer(ranking, request, 'm')).toEqual({
    object: 'list',
    model: 'm',
    results: [
      { index: 1, relevance_score: 0.75, _svc: { raw_score: 1.1 } },
      { index: 0, relevance_score: 0.5, _svc: { raw_score: 0 } },
      { index: 2, relevance_score: 0.5 },
    ],
    usage: { prompt_tokens: 9, total_tokens: 9 },
  });
});

test('limits the results and returns the texts when requested', () => {
  expect(rerankAnswer(ranking, { ...request, topN: 1, returnDocuments: true }, 'm')).toMatchObject({
    results: [{ index: 1, document: { text: 'b' } }],
  });
});
