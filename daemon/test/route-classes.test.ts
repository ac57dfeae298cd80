/**
 * docs/spec/specification.md#route-classes: the class table, checked from the exposure response, and
 * paths without a route.
 */

import { beforeAll, describe, expect, it } from 'vitest';
import type { ExposureView, Tier } from '../contract/auth.ts';
import { ROUTES } from '../contract/routes.ts';
import {
  ADMIN_KEY,
  CLIENT_KEY,
  type Gateway,
  KEYS_FILE,
  QUIET_FILE,
  startGateway,
  WIDE_LIMIT,
} from './harness/gateway.ts';
import { type HttpResponse, rawExchange, send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';

const KEYS: Record<Tier, string | undefined> = { anon: undefined, client: CLIENT_KEY, admin: ADMIN_KEY };
const TIERS: Tier[] = ['anon', 'client', 'admin'];

/** Routes whose handler would break the other rows. Only their rejections are tested. */
const DISRUPTIVE = new Set(['auth.rotate', 'auth.sessions.end', 'auth.require', 'memory.delete.all']);

/** Returns a concrete path for a pattern. */
const example = (pattern: string) => pattern.replace(/[:*]\w+/g, 'example');

function allowed(auth: string, tier: Tier): boolean {
  if (auth === 'open') return true;
  if (auth === 'client') return tier !== 'anon';
  return tier === 'admin';
}

/** The expected decision of the gate for this tier. */
function expected(auth: string, tier: Tier): 'pass' | 'auth.required' | 'auth.forbidden' {
  if (allowed(auth, tier)) return 'pass';
  return tier === 'anon' ? 'auth.required' : 'auth.forbidden';
}

const refusedByGate = (response: HttpResponse) =>
  response.code === 'auth.required' || response.code === 'auth.forbidden';

const files = { ...KEYS_FILE, ...QUIET_FILE, 'config/config.toml': WIDE_LIMIT };
const on = new OneGateway(() => startGateway({ files, env: { SVC_REQUIRE_AUTH: 'on' } }));
const off = new OneGateway(() => startGateway({ files, env: { SVC_REQUIRE_AUTH: 'off' } }));
let view: ExposureView;

beforeAll(async () => {
  view = (await send(on, 'GET', '/api/auth/exposure', { key: ADMIN_KEY })).json<ExposureView>();
});

/** HTTP rows of the exposure response; WebSockets and event streams have their own suites. */
const httpRules = () =>
  view.rules.filter((rule) => rule.id !== 'catch-all' && !['websocket', 'sse'].includes(rule.kind));

async function call(gateway: Gateway, method: string, pattern: string, tier: Tier): Promise<HttpResponse> {
  const body = method === 'POST' || method === 'PUT' ? '{}' : undefined;
  const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {};
  return send(gateway, method, example(pattern), { key: KEYS[tier], body, headers });
}

describe('C01 every row × tier, from the exposure response', () => {
  it('the exposure response has every class, the open allowlist, and ends in the catch-all', () => {
    expect(view.rules.length).toBeGreaterThan(40);
    expect(view.rules.at(-1)).toMatchObject({ id: 'catch-all', auth_class: 'admin' });
    expect(view.classes.map(({ name }) => name).sort()).toEqual(['admin', 'bootstrap', 'client', 'open']);
    const open = view.open_allowlist.map(({ method, path }) => `${method} ${path}`);
    for (const route of [
      'GET /v1/models',
      'GET /api/health',
      'GET /api/health/system',
      'GET /api/metrics/prometheus',
      'GET /api/config/urls',
      'POST /api/auth/login',
      'GET /api/auth/status',
      'POST /api/auth/logout',
    ]) {
      expect(open).toContain(route);
    }
  });

  it.each(TIERS)('enforcement on, tier %s', async (tier) => {
    for (const rule of httpRules()) {
      for (const method of rule.methods) {
        // This row is for files of the build. The example is not one of them, so it has no route.
        const decision = expected(rule.id === 'ui.asset' ? 'admin' : rule.auth_class, tier);
        if (decision === 'pass' && DISRUPTIVE.has(rule.id)) continue;
        const response = await call(on, method, rule.pattern, tier);
        const label = `${method} ${rule.pattern} as ${tier}: ${response.status} ${response.code}`;
        if (decision === 'pass') expect(refusedByGate(response), label).toBe(false);
        else if (method === 'HEAD' || rule.id.startsWith('hint.ollama.'))
          expect(response.status, label).toBe(decision === 'auth.required' ? 401 : 403);
        else expect(response.code, label).toBe(decision);
      }
    }
  });

  it.each(TIERS)('enforcement off, tier %s: every row is served', async (tier) => {
    for (const rule of httpRules()) {
      if (DISRUPTIVE.has(rule.id)) continue;
      for (const method of rule.methods) {
        const response = await call(off, method, rule.pattern, tier);
        expect(refusedByGate(response), `${method} ${rule.pattern} as ${tier}: ${response.status}`).toBe(
          false,
        );
      }
    }
  });
});

describe('C02 C03 C04 C06 C26 paths without a route', () => {
  const paths = [
    ['GET', '/api/does-not-exist'],
    ['GET', '/v1/files'],
    ['POST', '/v1/moderations'],
    ['POST', '/v1/images/edits'],
    ['POST', '/v1/audio/translations'],
    ['GET', '/V1/models'],
    ['GET', '/v1/Models'],
    ['GET', '/API/auth/status'],
    ['GET', '/api/auth/status/'],
    ['GET', '//v1/models'],
    ['GET', '/./v1/models'],
    ['GET', '/v1/./models'],
    ['GET', '/v1/models/../../api/config'],
    ['GET', '/index.html'],
    ['GET', '/assets/nothing.js'],
  ] as const;

  it.each(paths)('%s %s: anon 401, client 403, admin 404', async (method, path) => {
    expect(await send(on, method, path)).toMatchObject({ status: 401, code: 'auth.required' });
    expect(await send(on, method, path, { key: CLIENT_KEY })).toMatchObject({
      status: 403,
      code: 'auth.forbidden',
    });
    expect(await send(on, method, path, { key: ADMIN_KEY })).toMatchObject({
      status: 404,
      code: 'route.not_found',
    });
    expect(await send(off, method, path)).toMatchObject({ status: 404, code: 'route.not_found' });
  });

  it.each([
    ['GET', '/v1/models/'],
    ['GET', '/v1//models'],
    ['POST', '/v1/v1/messages'],
    ['POST', '/chat/completions'],
  ])('%s %s, a wrong base URL: anon 401, all others 404', async (method, path) => {
    expect(await send(on, method, path)).toMatchObject({ status: 401, code: 'auth.required' });
    for (const key of [CLIENT_KEY, ADMIN_KEY]) {
      expect(await send(on, method, path, { key })).toMatchObject({ status: 404, code: 'route.not_found' });
    }
    expect(await send(off, method, path)).toMatchObject({ status: 404, code: 'route.not_found' });
  });

  it('a 401 names the scheme', async () => {
    const response = await send(on, 'GET', '/api/does-not-exist');
    expect(response.headers['www-authenticate']).toContain('Bearer realm="svc"');
    expect(response.headers['x-request-id']).toBeTruthy();
  });
});

describe('C08–C23 request targets', () => {
  it.each([
    '/v1/models/..%2f..%2fapi%2fconfig',
    '/v1/models/%2e%2e/',
    '/v1/models/%252e%252e',
    '/v1/models/%zz',
  ])('C08 %s is an unknown id, taken literally', async (path) => {
    expect(await send(on, 'GET', path)).toMatchObject({ status: 404, code: 'model.not_found' });
  });

  it('C09 ids with a slash are one id, and open', async () => {
    expect((await send(on, 'GET', '/v1/models/svc/agent')).json()).toMatchObject({ id: 'svc/agent' });
    expect((await send(on, 'GET', '/v1/models/svc%2Fagent')).json()).toMatchObject({ id: 'svc/agent' });
    expect(await send(on, 'GET', '/v1/models/org/name')).toMatchObject({
      status: 404,
      code: 'model.not_found',
    });
  });

  it('C12 absolute-form targets have the class of their path; another authority is 400', async () => {
    const line = (target: string, host: string) =>
      rawExchange(on, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect(await line('http://localhost/api/auth/status', 'localhost')).toMatch(/^HTTP\/1\.1 200/);
    expect(await line('http://localhost/api/settings', 'localhost')).toMatch(/^HTTP\/1\.1 401/);
    expect(await line('http://other/api/auth/status', 'localhost')).toMatch(/^HTTP\/1\.1 400/);
    expect(await line('/api/settings#/v1/models', 'localhost')).toMatch(/^HTTP\/1\.1 401/);
    expect(await line('/api/settings?/v1/models', 'localhost')).toMatch(/^HTTP\/1\.1 401/);
  });

  it('C14 HEAD has the class of GET and no body', async () => {
    expect(await send(on, 'HEAD', '/v1/models')).toMatchObject({ status: 200, text: '' });
    expect(await send(on, 'HEAD', '/api/settings')).toMatchObject({ status: 401, text: '' });
  });

  it('C15 a wrong method is 405 with Allow for callers who may see the route', async () => {
    expect(await send(on, 'POST', '/v1/models')).toMatchObject({ status: 401 });
    const response = await send(on, 'POST', '/v1/models', { key: ADMIN_KEY });
    expect(response).toMatchObject({ status: 405, code: 'route.method_not_allowed' });
    expect(response.headers.allow?.split(', ').sort()).toEqual(['GET', 'HEAD']);
  });

  it('C16 OPTIONS is 204 with one constant list and reveals nothing about routes', async () => {
    const known = await send(on, 'OPTIONS', '/v1/models');
    const unknown = await send(on, 'OPTIONS', '/nowhere');
    expect([known.status, unknown.status]).toEqual([204, 204]);
    expect(known.headers.allow).toBe(unknown.headers.allow);
    const methods = new Set(Object.values(ROUTES).map(({ method }) => method));
    expect(known.headers.allow?.split(', ').sort()).toEqual([...methods, 'HEAD', 'OPTIONS'].sort());
    const star = await rawExchange(on, 'OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    expect(star).toMatch(/^HTTP\/1\.1 204/);
    const foreign = await send(on, 'OPTIONS', '/v1/models', {
      headers: { origin: 'https://evil.example.net.attacker.io' },
    });
    expect(foreign).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('C18 method overrides and rewriting headers are ignored', async () => {
    const headers = {
      'x-http-method-override': 'DELETE',
      'x-original-url': '/api/settings',
      'x-rewrite-url': '/api/settings',
      'x-forwarded-prefix': '/evil',
    };
    const response = await send(on, 'GET', '/api/auth/status?_method=DELETE', { headers });
    expect(response.json()).toMatchObject({ tier: 'anon' });
  });

  it.each(['TRACE', 'PROPFIND', 'QUERY', 'REPORT'])('C18 %s reaches no handler', async (method) => {
    const line = (key: string) =>
      rawExchange(on, `${method} /v1/models HTTP/1.1\r\nhost: localhost\r\n${key}connection: close\r\n\r\n`);
    expect(await line('')).toMatch(/^HTTP\/1\.1 (401|400|405|501)/);
    expect(await line(`authorization: Bearer ${ADMIN_KEY}\r\n`)).toMatch(/^HTTP\/1\.1 (400|405|501)/);
  });

  it('C18 an unknown long method is refused by the parser and CONNECT closes', async () => {
    expect(await rawExchange(on, `${'A'.repeat(64)} / HTTP/1.1\r\nhost: localhost\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400/,
    );
    expect(await rawExchange(on, 'CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n')).not.toMatch(
      / 200 /,
    );
  });

  it('C23 a pipelined second request is checked on its own', async () => {
    const pair =
      'GET /api/auth/status HTTP/1.1\r\nhost: localhost\r\n\r\n' +
      'GET /api/settings HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    const response = await rawExchange(on, pair);
    expect([...response.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['200', '401']);
  });
});

describe('C25 the admin-only memory routes', () => {
  it('stay admin-only when the memory class is client', async () => {
    const files = {
      ...KEYS_FILE,
      ...QUIET_FILE,
      'config/config.toml': '[security]\nmemory_class = "client"\n',
    };
    const wide = await forTest(startGateway({ files, env: { SVC_REQUIRE_AUTH: 'on' } }));
    const key = CLIENT_KEY;
    const added = await send(wide, 'POST', '/api/memory', {
      key,
      body: { text: 'the key is under the mat' },
    });
    expect(added.status).toBe(200);
    const { id } = added.json<{ id: string }>();
    expect((await send(wide, 'GET', `/api/memory/${id}`, { key })).status).toBe(200);
    const found = await send(wide, 'POST', '/api/memory/search', { key, body: { query: 'mat' } });
    expect(found.json<{ memories: unknown[] }>().memories).toHaveLength(1);
    for (const [method, path, body] of [
      ['DELETE', `/api/memory/${id}`, undefined],
      ['DELETE', '/api/memory?confirm=all', undefined],
      ['POST', '/api/memory/delete', { ids: [id] }],
    ] as const) {
      expect(await send(wide, method, path, { key, body })).toMatchObject({
        status: 403,
        code: 'auth.forbidden',
      });
    }
    expect((await send(wide, 'DELETE', '/api/memory', { key: ADMIN_KEY })).status).toBe(422);
    expect((await send(wide, 'DELETE', `/api/memory/${id}`, { key: ADMIN_KEY })).json()).toEqual({
      deleted: 1,
    });
  });
});

describe('C28 bootstrap routes', () => {
  it('are open until an admin key exists, then admin, and open again without one', async () => {
    const first = await startGateway({ files: QUIET_FILE, env: { SVC_REQUIRE_AUTH: 'on' } });
    expect((await send(first, 'GET', '/api/setup')).status).toBe(200);
    await first.stop();
    const second = await startGateway({
      home: first.home,
      files: KEYS_FILE,
      env: { SVC_REQUIRE_AUTH: 'on' },
    });
    expect((await send(second, 'GET', '/api/setup')).status).toBe(401);
    expect((await send(second, 'GET', '/api/setup', { key: CLIENT_KEY })).status).toBe(403);
    expect((await send(second, 'GET', '/api/setup', { key: ADMIN_KEY })).status).toBe(200);
    await second.stop();
    const third = await startGateway({
      home: first.home,
      files: { 'config/api.env': '' },
      env: { SVC_REQUIRE_AUTH: 'on' },
    });
    expect((await send(third, 'GET', '/api/setup')).status).toBe(200);
    await third.stop();
    first.remove();
  });
});
