/** WebSocket upgrades over a real port: the same guards as every request, rejected before or right after the handshake. */
import { describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { login, parseRaw, rawExchange, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { handshake, socketResult } from './harness/socket.ts';

const REALTIME = '/v1/realtime';
const FOREIGN = 'https://evil.attacker.org';
const on = new OneGateway(startLocked);
const off = new OneGateway(() => startLocked({ env: { SVC_REQUIRE_AUTH: 'off' } }));

/** Result for an accepted caller: session.created, then a normal close. */
const SERVED = { opened: true, messages: [expect.stringContaining('"session.created"')], code: 1000 };
/** A refusal of the realtime route: an error event, then the close. */
const refusedWith = (code: number, reason: string) => ({
  opened: true,
  messages: [expect.stringContaining(`"type":"error"`)],
  code,
  reason,
});
/** A refusal before the handshake. */
const refusedBefore = (status: number) => ({ refused: status, opened: false, messages: [] });

describe('T17 accepted callers', () => {
  it('api_key=client: session.created', async () => {
    const result = await socketResult(on, `${REALTIME}?model=agent&api_key=${CLIENT_KEY}`);
    expect(result).toMatchObject(SERVED);
    expect(JSON.parse(result.messages[0] as string)).toMatchObject({
      type: 'session.created',
      event_id: expect.stringMatching(/^event_/),
      session: { type: 'realtime', model: 'agent' },
    });
  });

  it('Bearer, the cookie and the admin key as well', async () => {
    const authorization = `Bearer ${CLIENT_KEY}`;
    expect(await socketResult(on, REALTIME, { headers: { authorization } })).toMatchObject(SERVED);
    const cookie = await login(on, ADMIN_KEY);
    expect(await socketResult(on, REALTIME, { headers: { cookie } })).toMatchObject(SERVED);
    expect(await socketResult(on, `${REALTIME}?api_key=${ADMIN_KEY}`)).toMatchObject(SERVED);
  });

  it.each([
    ['nothing', ''],
    ['a wrong key', '?api_key=wrong'],
    ['an empty key', '?api_key='],
  ])('%s: an error event, then close 4401', async (_name, query) => {
    const result = await socketResult(on, REALTIME + query);
    expect(result).toMatchObject(refusedWith(4401, 'auth.required'));
    expect(JSON.parse(result.messages[0] as string)).toEqual({
      type: 'error',
      event_id: expect.stringMatching(/^event_/),
      error: {
        type: 'authentication_error',
        code: 'auth.required',
        message: query.includes('wrong')
          ? 'This key is not valid here.'
          : expect.stringMatching(/^A key is required\./),
        param: null,
        event_id: null,
      },
    });
  });

  it('a message sent with a rejected handshake is never handled', async () => {
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]);
    const response = await rawExchange(on, Buffer.concat([Buffer.from(handshake(REALTIME)), frame]));
    const [head = '', frames = ''] = response.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    const bytes = Buffer.from(frames, 'latin1');
    expect(bytes[0]).toBe(0x81);
    const close = bytes.indexOf(0x88);
    expect(bytes.readUInt16BE(close + 2)).toBe(4401);
    expect(frames).not.toContain('missing_required_parameter');
  });

  it('a message sent with an accepted handshake is handled', async () => {
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x7b, 0x7d]);
    const key = { authorization: `Bearer ${CLIENT_KEY}` };
    const response = await rawExchange(
      on,
      Buffer.concat([Buffer.from(handshake(REALTIME, key)), frame]),
      400,
    );
    expect(response).toContain('"session.created"');
    expect(response).toContain('"missing_required_parameter"');
  });

  it('with enforcement off every caller is accepted', async () =>
    expect(await socketResult(off, REALTIME)).toMatchObject(SERVED));
});

describe('the key in the subprotocol', () => {
  const offer = (key: string, ...more: string[]) => ['realtime', `openai-insecure-api-key.${key}`, ...more];

  it('is accepted, the selected protocol is realtime, and the key is in neither the response nor the log', async () => {
    const result = await socketResult(on, REALTIME, {
      protocols: offer(CLIENT_KEY, 'openai-beta.realtime-v1'),
    });
    expect(result).toMatchObject({ ...SERVED, protocol: 'realtime' });
    const raw = await rawExchange(
      on,
      handshake(REALTIME, { 'sec-websocket-protocol': offer(CLIENT_KEY).join(', ') }),
    );
    expect(raw).toMatch(/^HTTP\/1\.1 101 /);
    expect(raw).toMatch(/^sec-websocket-protocol: realtime\r$/im);
    expect(raw).not.toContain(CLIENT_KEY);
    expect(on.output()).not.toContain(CLIENT_KEY);
  });

  it('without realtime in the offer no protocol is selected', async () => {
    const only = { 'sec-websocket-protocol': `openai-insecure-api-key.${CLIENT_KEY}` };
    const raw = await rawExchange(on, handshake(REALTIME, only));
    expect(raw).toMatch(/^HTTP\/1\.1 101 /);
    expect(raw).not.toMatch(/sec-websocket-protocol/i);
  });

  it('a wrong one is 4401; another route or a plain request never reads it', async () => {
    expect(await socketResult(on, REALTIME, { protocols: offer('wrong') })).toMatchObject(
      refusedWith(4401, 'auth.required'),
    );
    expect(await socketResult(on, '/api/events', { protocols: offer(ADMIN_KEY) })).toMatchObject(
      refusedBefore(401),
    );
    const headers = { 'sec-websocket-protocol': offer(ADMIN_KEY).join(', ') };
    expect((await send(on, 'GET', REALTIME, { headers })).status).toBe(401);
  });
});

describe('Origin and Host', () => {
  it.each([FOREIGN, 'null', 'http://127.0.0.1:1', ''])(
    'O12 Origin %j: 101, an error event, then close 4403, nothing handled, closed within 2 s',
    async (origin) => {
      for (const gateway of [on, off]) {
        const started = performance.now();
        const result = await socketResult(gateway, `${REALTIME}?api_key=${ADMIN_KEY}`, {
          headers: { origin },
        });
        expect(result).toMatchObject(refusedWith(4403, 'auth.origin_forbidden'));
        expect(performance.now() - started).toBeLessThan(2_000);
      }
    },
  );

  it('O12 the connection of a peer that ignores the close ends within 2 s', async () => {
    const started = performance.now();
    const response = await rawExchange(on, handshake(REALTIME, { origin: FOREIGN }), 5_000);
    expect(response).toMatch(/^HTTP\/1\.1 101 /);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('the Origin is checked before the tier; the own origin passes', async () => {
    expect(await socketResult(on, REALTIME, { headers: { origin: FOREIGN } })).toMatchObject({ code: 4403 });
    const headers = { origin: `http://127.0.0.1:${on.port}` };
    expect(await socketResult(on, `${REALTIME}?api_key=${CLIENT_KEY}`, { headers })).toMatchObject(SERVED);
  });

  it('an older protocol version, whose Origin header has another name, is rejected', async () => {
    const old = {
      'sec-websocket-version': '8',
      'sec-websocket-origin': FOREIGN,
      authorization: `Bearer ${ADMIN_KEY}`,
    };
    expect(parseRaw(await rawExchange(on, handshake(REALTIME, old)))).toMatchObject({ status: 426 });
  });

  it('O14 a foreign Host is 403 before the handshake, as an envelope', async () => {
    const response = parseRaw(await rawExchange(off, handshake(REALTIME, { host: 'www.attacker.org' })));
    expect(response).toMatchObject({ status: 403, code: 'auth.host_forbidden' });
    expect(JSON.parse(response.text)).toMatchObject({ error: { type: 'permission_error', param: null } });
  });

  it.each([
    ['no Host', { host: '' }],
    ['a malformed Host', { host: 'a b' }],
  ])('%s is 400 before the handshake', async (_name, headers) =>
    expect(parseRaw(await rawExchange(on, handshake(REALTIME, headers)))).toMatchObject({
      status: 400,
      code: 'request.malformed',
    }),
  );

  it('two Hosts, and a target of another host, are 400 before the handshake', async () => {
    const twice = handshake(REALTIME, { connection: 'Upgrade\r\nHost: other' });
    expect(parseRaw(await rawExchange(on, twice)).status).toBe(400);
    const absolute = handshake(`http://other${REALTIME}?api_key=${ADMIN_KEY}`);
    expect(parseRaw(await rawExchange(on, absolute)).status).toBe(400);
    const own = handshake(`http://127.0.0.1${REALTIME}?api_key=${CLIENT_KEY}`);
    expect(parseRaw(await rawExchange(on, own)).status).toBe(101);
  });
});

describe('paths without a socket', () => {
  it.each([
    ['/', 426, 426, 426],
    ['/v1/models', 426, 426, 426],
    ['/v1/responses', 401, 426, 426],
    ['/v1/chat/completions', 401, 426, 426],
    ['/v1/messages', 401, 426, 426],
    ['/api/events', 401, 426, 426],
    ['/api/settings', 401, 403, 426],
    ['/api/auth/rotate', 401, 403, 426],
    ['/v1/nowhere', 401, 403, 404],
    ['/v1/realtime/', 401, 404, 404],
    ['/V1/realtime', 401, 403, 404],
    ['//v1/realtime', 401, 403, 404],
  ])('%s is refused before the handshake: anon %i, client %i, admin %i', async (path, ...statuses) => {
    const [anon, client, admin] = statuses;
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    expect(await socketResult(on, path)).toMatchObject(refusedBefore(anon));
    expect(await socketResult(on, path, as(CLIENT_KEY))).toMatchObject(refusedBefore(client));
    expect(await socketResult(on, path, as(ADMIN_KEY))).toMatchObject(refusedBefore(admin));
    expect(await socketResult(off, path)).toMatchObject(refusedBefore(admin));
  });

  it('the refusal is an envelope that names the protocol to use', async () => {
    const key = { authorization: `Bearer ${CLIENT_KEY}` };
    const response = parseRaw(await rawExchange(on, handshake('/v1/responses', key)));
    expect(response).toMatchObject({ status: 426, code: 'request.malformed' });
    expect(response.headers.upgrade).toBe('HTTP/1.1');
    expect(response.text).toContain('plain HTTP request');
  });

  it('O12 a foreign Origin is 403 before the handshake, and no secret is repeated', async () => {
    const foreign = { origin: FOREIGN, authorization: `Bearer ${ADMIN_KEY}` };
    for (const path of ['/', '/v1/responses', '/api/events', '/v1/nowhere']) {
      const response = parseRaw(await rawExchange(on, handshake(path, foreign)));
      expect(response, path).toMatchObject({ status: 403, code: 'auth.origin_forbidden' });
    }
    const secret = { ...foreign, origin: `http://${ADMIN_KEY}.example` };
    expect(await rawExchange(on, handshake('/v1/responses', secret))).not.toContain(ADMIN_KEY);
    expect(await rawExchange(on, handshake(REALTIME, secret))).not.toContain(ADMIN_KEY);
  });

  it.each(['//a@[x/', '//[/', '/v1\\realtime', '//x@h/v1/realtime', '\\v1/realtime'])(
    '%s is checked unchanged: rejected, never normalised into a route, and the gateway continues',
    async (target) => {
      const key = { authorization: `Bearer ${ADMIN_KEY}` };
      const response = await rawExchange(off, handshake(target, key));
      const [head = ''] = response.split('\r\n\r\n');
      expect(head).toMatch(target.startsWith('/') ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 400 /);
      expect((await send(off, 'GET', '/api/health')).status).toBe(200);
    },
  );
});

describe('an Upgrade header lets no request bypass the guards', () => {
  const get = (path: string, headers: Record<string, string>, method = 'GET') =>
    rawExchange(on, handshake(path, { connection: 'upgrade, close', ...headers }, method));

  it.each([
    ['POST', '/api/auth/rotate'],
    ['PUT', '/api/auth/require'],
    ['DELETE', '/api/memory'],
    ['POST', REALTIME],
    ['GET', '/api/settings', 'h2c'],
    ['GET', '/api/settings', 'foo'],
    ['GET', '/api/settings', 'websocket, h2c'],
    ['HEAD', '/api/settings'],
  ])('%s %s is checked like any other request', async (method, path, upgrade = 'websocket') => {
    const anon = parseRaw(await get(path, { upgrade }, method));
    expect(anon.status).toBe(401);
    const foreign = parseRaw(
      await get(path, { upgrade, origin: FOREIGN, authorization: `Bearer ${ADMIN_KEY}` }, method),
    );
    expect(foreign.status).toBe(method === 'GET' ? 200 : method === 'HEAD' ? 200 : 403);
  });

  it('an open route ignores the header', async () => {
    const response = parseRaw(await get('/api/health', { upgrade: 'h2c' }));
    expect(response.status).toBe(200);
    expect(response.text).toContain('"status":"ok"');
  });

  it('a foreign Host is rejected here too', async () => {
    const raw = await rawExchange(
      off,
      handshake('/api/status', { upgrade: 'h2c', host: 'www.attacker.org', connection: 'upgrade, close' }),
    );
    expect(parseRaw(raw)).toMatchObject({ status: 403, code: 'auth.host_forbidden' });
  });

  it('a POST with a body and an Upgrade header is read as a POST', async () => {
    const raw =
      `POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n` +
      `content-type: application/json\r\ncontent-length: 13\r\n\r\n{"key":"nay"}`;
    expect(parseRaw(await rawExchange(on, raw))).toMatchObject({ status: 401, code: 'auth.invalid_key' });
  });

  it('GET /v1/realtime without an upgrade is 426 for callers with access', async () => {
    const response = await send(on, 'GET', REALTIME, { key: CLIENT_KEY });
    expect(response).toMatchObject({ status: 426, code: 'request.malformed' });
    expect(response.headers.upgrade).toBe('websocket');
    expect((await send(on, 'GET', REALTIME)).status).toBe(401);
    expect((await send(on, 'POST', REALTIME, { key: CLIENT_KEY })).status).toBe(403);
  });
});
