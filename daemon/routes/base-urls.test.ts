import { describe, expect, it, test } from 'vitest';
import { baseUrlHint, intendedRoute, ollamaHint } from './base-urls.ts';

test.each([
  ['/v1/v1/messages', '/v1/messages'],
  ['/v1/v1/messages/count_tokens', '/v1/messages/count_tokens'],
  ['/v1/v1/v1/chat/completions', '/v1/chat/completions'],
  ['/chat/completions', '/v1/chat/completions'],
  ['/responses', '/v1/responses'],
  ['/models', '/v1/models'],
  ['/v1/models/', '/v1/models'],
  ['/v1//models', '/v1/models'],
  ['/v1//chat/completions/', '/v1/chat/completions'],
  ['/audio/speech', '/v1/audio/speech'],
  ['/openai/deployments/gpt-4o/chat/completions', '/v1/chat/completions'],
  ['/openai/v1/responses', '/v1/responses'],
  ['/openai/models', '/v1/models'],
  ['/openai/deployments', null],
  ['/v1/v1/nothing', null],
  ['/audio/translations', null],
  ['/models/m', null],
  ['/v1/', null],
  ['/v1/../api/settings', null],
])('%s means %s', (path, route) => expect(intendedRoute(path)).toBe(route));

describe('the message', () => {
  const base = 'http://gw.lan:8080';

  it('names the right address, and the base URL of both APIs', () => {
    const text = baseUrlHint('/v1/v1/messages', base);
    expect(text).toContain('There is no route at this path. Use http://gw.lan:8080/v1/messages.');
    expect(text).toContain("http://gw.lan:8080/v1 for clients of OpenAI's API");
    expect(text).toContain("http://gw.lan:8080 for clients of Anthropic's API");
  });

  it('names only the base URLs when the path means no route', () =>
    expect(baseUrlHint('/v1/v1/files', base)).not.toContain('Use '));

  it('does not repeat the path', () =>
    expect(baseUrlHint('/v1/v1/my-secret', base)).not.toContain('my-secret'));

  it('of an Ollama client names the kind of connection and its base URL', () =>
    expect(ollamaHint(base)).toMatch(/OpenAI-compatible connection.*http:\/\/gw\.lan:8080\/v1$/));
});
