import { expect, test } from 'vitest';
import { rerankAnswer } from './rerank-response.ts';

const request = { query: 'q', documents: ['a', 'b', 'c'], topN: null, returnDocuments: false };
const ranking = { scores: [1, 3, 1], tokens: 9 };

test('sorts best first, equal scores in request order', () => {
  expect(rerankAnswer(ranking, request, 'm')).toEqual({
    object: 'list',
    model: 'm',
    results: [
      { index: 1, relevance_score: 3 },
      { index: 0, relevance_score: 1 },
      { index: 2, relevance_score: 1 },
    ],
    usage: { prompt_tokens: 9, total_tokens: 9 },
  });
});

test('limits the results and returns the texts when requested', () => {
  expect(rerankAnswer(ranking, { ...request, topN: 1, returnDocuments: true }, 'm')).toMatchObject({
    results: [{ index: 1, document: { text: 'b' } }],
  });
});
