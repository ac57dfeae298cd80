import { expect } from 'vitest';
import type { HttpResponse } from './http.ts';

/** Body of a rerank response. */
type Ranking = { results: { index: number; relevance_score: number; document?: { text: string } }[] };

/** Expects the common format of rerank responses, best first, and returns the results. */
export const expectRanking = (response: HttpResponse, model: string) => {
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  const body = response.json<Ranking & { usage: object }>();
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
