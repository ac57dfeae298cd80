/** CORS over a real port: only for listed origins, their exact value, without credentials. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, KEYS_FILE, QUIET_FILE, startGateway } from './harness/gateway.ts';
import { ask } from './harness/http.ts';

const FOREIGN = 'https://evil.attacker.org';
let on: Gateway;

beforeAll(async () => {
  const env = { SVC_REQUIRE_AUTH: 'on', SVC_ALLOWED_ORIGINS: 'https://chat.mydomain.org' };
  on = await startGateway({ files: { ...KEYS_FILE, ...QUIET_FILE }, env });
});

afterAll(async () => {
  await on?.stop();
  on?.remove();
});

describe('CORS', () => {
  const preflight = (origin: string, headers = 'authorization, content-type, x-svc-model-filter') =>
    ask(on, 'OPTIONS', '/v1/chat/completions', {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': headers,
      },
    });

  it('C16 a preflight from a listed origin gets its exact value, the needed headers, and no credentials', async () => {
    const answer = await preflight('https://chat.mydomain.org');
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers['access-control-allow-origin']).toBe('https://chat.mydomain.org');
    expect(answer.headers.vary).toBe('Origin');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers['access-control-allow-methods']).toContain('POST');
    for (const name of ['authorization', 'content-type', 'x-svc-model-filter']) {
      expect(String(answer.headers['access-control-allow-headers']).toLowerCase()).toContain(name);
    }
  });

  it.each([FOREIGN, 'null', 'http://chat.mydomain.org', ''])(
    'C16 a preflight from %j is 403 without ACAO',
    async (origin) => {
      const answer = await preflight(origin);
      expect(answer).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  it('an answer and a refusal to a listed origin can be read by its page; nobody else gets the header', async () => {
    const headers = { origin: 'https://chat.mydomain.org' };
    for (const [method, path, status] of [
      ['GET', '/v1/models', 200],
      ['GET', '/api/settings', 401],
      ['POST', '/v1/chat/completions', 401],
      ['GET', '/api/nowhere', 401],
    ] as const) {
      const answer = await ask(on, method, path, { headers });
      expect(answer.status).toBe(status);
      expect(answer.headers['access-control-allow-origin']).toBe('https://chat.mydomain.org');
      expect(answer.headers.vary).toBe('Origin');
    }
    const own = await ask(on, 'GET', '/v1/models', { headers: { origin: `http://127.0.0.1:${on.port}` } });
    expect(own.headers['access-control-allow-origin']).toBeUndefined();
  });
});
