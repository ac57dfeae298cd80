import { expect, test } from 'vitest';
import { dialectOf } from './call.ts';

test.each([
  ['/v1/messages', 'anthropic'],
  ['/v1/messages?beta=true', 'anthropic'],
  ['/v1/messages/count_tokens', 'anthropic'],
  ['http://gateway.test/V1/Messages', 'anthropic'],
  ['/v1/messages2', 'openai'],
  ['/v1/responses', 'openai'],
  ['/v1', 'openai'],
  ['/v1x', 'api'],
  ['/api/status?x=/v1/messages', 'api'],
])('%s gets a response as %s', (url, dialect) => {
  expect(dialectOf(url)).toBe(dialect);
});
