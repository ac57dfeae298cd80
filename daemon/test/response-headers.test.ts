/**
 * The headers of every kind of response, including errors and parse failures
 * (docs/spec/contract.md#request-id, docs/spec/contract.md#cors).
 */
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../contract/errors.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { parseRaw, rawExchange, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { handshake } from './harness/socket.ts';

const ids = new Set<string>();

const gateway = new OneGateway(startLocked);

type Headers = Record<string, string | string[] | undefined>;

/** Checks the headers of every response. Each request id must be new. */
function expectBase(headers: Headers): void {
  const id = String(headers['x-request-id']);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(ids.has(id)).toBe(false);
  ids.add(id);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(headers['x-powered-by']).toBeUndefined();
  expect(headers.server).toBeUndefined();
}

function expectData(headers: Headers): void {
  expectBase(headers);
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  });
}

describe('responses', () => {
  it.each([
    ['GET', '/api/health'],
    ['GET', '/api/auth/status'],
    ['GET', '/api/metrics/prometheus'],
    ['GET', '/api/slots'],
    ['GET', '/v1/models'],
    ['HEAD', '/api/health'],
  ])('%s %s', async (method, path) => {
    const response = await send(gateway, method, path, { key: ADMIN_KEY });
    expect(response.status).toBe(200);
    expectData(response.headers);
  });

  it('an event stream', async () => {
    const raw = `GET /api/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ADMIN_KEY}\r\n\r\n`;
    const { status, headers } = parseRaw(await rawExchange(gateway, raw, 400));
    expect(status).toBe(200);
    expectData(headers);
  });

  it('a page: the strict policy and no inline script', async () => {
    const response = await send(gateway, 'GET', '/');
    expectBase(response.headers);
    const policy = String(response.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    if (response.status !== 200) return;
    for (const part of [
      "script-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "form-action 'self'",
    ]) {
      expect(policy).toContain(part);
    }
    expect(response.text).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>\s*\S/);
  });

  it('OPTIONS', async () => expectBase((await send(gateway, 'OPTIONS', '/v1/models')).headers));
});

describe('errors are envelopes', () => {
  it.each([
    ['401', 'GET', '/api/settings', undefined, 401, 'auth.required'],
    ['401 of /v1', 'POST', '/v1/chat/completions', undefined, 401, 'auth.required'],
    ['403', 'GET', '/api/settings', CLIENT_KEY, 403, 'auth.forbidden'],
    ['404', 'GET', '/api/nowhere', ADMIN_KEY, 404, 'route.not_found'],
    ['405', 'POST', '/v1/models', ADMIN_KEY, 405, 'route.method_not_allowed'],
    ['426', 'GET', '/v1/realtime', CLIENT_KEY, 426, 'request.malformed'],
    ['404 of a model', 'GET', '/v1/models/unknown', undefined, 404, 'model.not_found'],
    ['404 of an asset', 'GET', '/assets/nothing.js', ADMIN_KEY, 404, 'route.not_found'],
    ['403 of an asset', 'GET', '/assets/nothing.js', CLIENT_KEY, 403, 'auth.forbidden'],
    ['401 of an asset', 'GET', '/assets/nothing.js', undefined, 401, 'auth.required'],
  ])('%s', async (_name, method, path, key, status, code) => {
    const response = await send(gateway, method, path, { key });
    expect(response).toMatchObject({ status, code });
    expect(response.headers['content-type']).toBe('application/json');
    expectData(response.headers);
    if (path.startsWith('/v1'))
      expect(response.json()).toMatchObject({ error: { type: expect.any(String) } });
    else {
      const { error } = response.json<{ error: { advice?: string } }>();
      expect(error).not.toHaveProperty('type');
      expect(error.advice).toBe(ERRORS[code as ErrorCode].advice);
    }
  });

  const post = 'POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\n';
  const get = 'GET /api/health HTTP/1.1\r\n';
  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['no Host', `${get}\r\n`, 400],
    ['two Hosts', `${get}host: a\r\nhost: a\r\n\r\n`, 400],
    ['Host twice, one of them in another case', `${get}host: a\r\nHOST: b\r\n\r\n`, 400],
    ['CL and TE', `${post}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['two lengths', `${post}content-length: 4\r\ncontent-length: 5\r\n\r\nabcd`, 400],
    ['TE that ends in no chunks', `${post}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`, 400],
    ['TE with a similar name', `${post}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    ['a signed length', `${post}content-length: +4\r\n\r\nabcd`, 400],
    ['obs-fold', `${get}host: a\r\nx-a: b\r\n c\r\n\r\n`, 400],
    ['a bare LF', 'GET /api/health HTTP/1.1\nhost: a\n\n', 400],
    ['a space before the colon', `${get}host : a\r\n\r\n`, 400],
    ['NUL in a header', `${get}host: a\r\nx-a: b\0c\r\n\r\n`, 400],
    ['headers over 16 KiB', `${get}host: a\r\nx-a: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
    ['an unknown Expect', `${post}expect: a-miracle\r\ncontent-length: 2\r\n\r\n`, 417],
    ['a handshake of another version', handshake('/v1/realtime', { 'sec-websocket-version': '12' }), 426],
    ['a handshake without a key', handshake('/v1/realtime', { 'sec-websocket-key': '' }), 400],
  ])('%s', async (_name, raw, status) => {
    const response = parseRaw(await rawExchange(gateway, raw));
    expect(response).toMatchObject({ status, code: 'request.malformed' });
    expect(response.headers['content-type']).toBe('application/json');
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.text)));
    expectData(response.headers);
  });
});

describe('X06 open routes disclose nothing', () => {
  it('contain no key, path, user name or credential of the request', async () => {
    const secret = 'secret-in-the-request-71c0';
    for (const path of [
      '/api/health',
      '/api/health/system',
      '/api/metrics/prometheus',
      '/api/config/urls',
      '/api/auth/status',
      '/v1/models',
      '/v1/models/unknown',
      '/api/setup',
    ]) {
      const headers = {
        authorization: `Bearer ${secret}`,
        referer: `http://${secret}/`,
        cookie: `svc_session=${secret}`,
      };
      const { text } = await send(gateway, 'GET', `${path}?api_key=${secret}`, { headers });
      for (const word of [secret, ADMIN_KEY, CLIENT_KEY, gateway.home, process.execPath, '/root', 'argv']) {
        expect(text, `${path} contains ${word}`).not.toContain(word);
      }
    }
    expect(gateway.output()).not.toContain(secret);
  });

  it('config/urls returns no user information and no host except that of the Host header', async () => {
    const urls = await send(gateway, 'GET', '/api/config/urls', { headers: { host: 'gw.lan:8080' } });
    expect(urls.json<{ api: string }>().api).toContain('gw.lan:8080');
    const forged = {
      host: 'gw.lan',
      'x-forwarded-host': 'evil.attacker.org',
      forwarded: 'host=evil.attacker.org',
    };
    expect((await send(gateway, 'GET', '/api/config/urls', { headers: forged })).text).not.toContain(
      'attacker',
    );
  });
});
