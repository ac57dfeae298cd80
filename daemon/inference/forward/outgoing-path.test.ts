import { expect, test } from 'vitest';
import { outgoingPath } from './outgoing-path.ts';

test.each([
  ['/v1/chat/completions', '/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/chat/completions', '/v1/chat/completions?api_key=secret', '/v1/chat/completions'],
  ['/v1/embeddings', '/v1/embeddings?b=2&api_key=s&a=1&api_key=t&c', '/v1/embeddings?b=2&a=1&c'],
  ['/v1/embeddings', '/v1/embeddings?%61pi_key=s&x=%2F%2f', '/v1/embeddings?x=%2F%2f'],
  ['/v1/embeddings', '/v1/embeddings?api_keys=1&%zz=2#frag?api_key=3', '/v1/embeddings?api_keys=1&%zz=2'],
  ['/v1/rerankings', '/v1/rerankings?x=1', '/v1/rerank?x=1'],
  ['/v1/reranking', '/v1/reranking', '/v1/rerank'],
  ['/v1/rerank', '/v1/rerank', '/v1/rerank'],
  ['/v1/chat/completions', 'http://host/v1/chat/completions?a=1', '/v1/chat/completions?a=1'],
])('%s requested as %s is sent as %s', (route, url, expected) => {
  expect(outgoingPath(route, url)).toBe(expected);
});

test('an upstream with its own rerankings keeps the path', () => {
  expect(outgoingPath('/v1/rerankings', '/v1/rerankings', false)).toBe('/v1/rerankings');
});
