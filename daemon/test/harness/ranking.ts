import { expect } from 'vitest';
import type { Answer } from './http.ts';

/** What a rerank answers. */
type Ranking = { results: { index: number; relevance_score: number; document?: { text: string } }[] };

/** Expects the one shape of rerank answers, best first, and returns the results. */
export const expectOneShape = (answer: Answer, model: string) => {
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const body = answer.json<Ranking & { usage: object }>();
  expect(Object.keys(body).sort()).toEqual(['model', 'object', 'results', 'usage']);
  expect(body).toMatchObject({
    object: 'list',
    model,
    usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
  });
  const scores = body.results.map(({ relevance_score }) => relevance_score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  return body.results;
};
