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
  ['/v1/v1/messages', 'anthropic'],
  ['/v1//messages', 'anthropic'],
  ['/messages', 'anthropic'],
  ['/messages/count_tokens', 'anthropic'],
  ['/chat/completions', 'openai'],
  ['/v1/v1/chat/completions', 'openai'],
  ['/openai/deployments/m/chat/completions', 'openai'],
  ['/models', 'openai'],
  ['/models/m', 'openai'],
  ['/slots', 'api'],
  ['/api/models', 'api'],
  ['/api/chat', 'ollama'],
  ['/api/tags', 'ollama'],
  ['/api/tags?x=1', 'ollama'],
  ['/api/tags/x', 'api'],
  ['*', 'api'],
  ['x', 'api'],
])('%s gets a response as %s', (url, dialect) => {
  expect(dialectOf(url)).toBe(dialect);
});
