import { expect, test } from 'vitest';
import { lacksTokenCounts } from './token-counts.ts';

const CHAT = '/v1/chat/completions';
const request = (route: string, status: number | null, input: number | null, output: number | null) => ({
  route,
  state: status === null ? ('running' as const) : ('done' as const),
  status,
  ttft_ms: status === 502 ? null : 5,
  prompt_tokens: input,
  completion_tokens: output,
});

test.each([
  ['a chat with both counts', request(CHAT, 200, 3, 4), false],
  ['a chat without counts', request(CHAT, 200, null, null), true],
  ['a chat without the count of its answer', request('/v1/messages', 200, 3, null), true],
  ['an answer that its caller stopped', request('/v1/responses', 499, null, null), true],
  ['a caller who left before the answer', { ...request(CHAT, 499, null, null), ttft_ms: null }, false],
  ['a refused request', request(CHAT, 422, null, null), false],
  ['a failed request', request(CHAT, 502, null, null), false],
  ['a running request', request(CHAT, null, null, null), false],
  ['embeddings have no output tokens', request('/v1/embeddings', 200, 3, null), false],
  ['embeddings without a count', request('/v1/embeddings', 200, null, null), true],
  ['a route without tokens', request('/v1/audio/speech', 200, null, null), false],
])('%s', (_, record, expected) => expect(lacksTokenCounts(record)).toBe(expected));
