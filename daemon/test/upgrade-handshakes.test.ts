/** Invalid WebSocket handshakes over a real port. */
import { describe, expect, it } from 'vitest';
import { CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { parseRaw, rawExchange, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { randomFrom, scale, seed } from './harness/scale.ts';
import { handshake } from './harness/socket.ts';

const REALTIME = '/v1/realtime';

const on = new OneGateway(startLocked);

describe('W03 invalid handshakes', () => {
  it('another version is 426 and names the right one', async () => {
    for (const version of ['12', '14', '', 'x', '13, 12']) {
      const response = parseRaw(
        await rawExchange(on, handshake(REALTIME, { 'sec-websocket-version': version })),
      );
      expect(response).toMatchObject({ status: 426, code: 'request.malformed' });
      expect(response.headers['sec-websocket-version']).toBe('13');
    }
  });

  it.each([
    ['no key', { 'sec-websocket-key': '' }],
    ['a short key', { 'sec-websocket-key': 'abc' }],
    ['a protocol that is no token', { 'sec-websocket-protocol': 'a b' }],
    ['a protocol twice', { 'sec-websocket-protocol': 'realtime, realtime' }],
  ])('%s is 400', async (_name, headers) =>
    expect(parseRaw(await rawExchange(on, handshake(REALTIME, headers)))).toMatchObject({
      status: 400,
      code: 'request.malformed',
    }),
  );

  it.each([
    ['a length', REALTIME, { 'content-length': '3' }, 'abc'],
    ['chunks', REALTIME, { 'transfer-encoding': 'chunked' }, '3\r\nabc\r\n0\r\n\r\n'],
    ['an empty chunked body', REALTIME, { 'transfer-encoding': 'chunked' }, '0\r\n\r\n'],
    ['a frame as its body', `${REALTIME}?model=agent`, { 'content-length': '6' }, '\x81\x80abcd'],
    ['a length that is never sent', REALTIME, { 'content-length': '9' }, ''],
    ['a body on an HTTP route', '/v1/responses', { 'content-length': '2' }, '{}'],
    ['a body on no route', '/nowhere', { 'content-length': '2' }, '{}'],
  ])('a body is 400 before the handshake: %s', async (_name, path, headers, body) => {
    const response = parseRaw(await rawExchange(on, handshake(path, headers) + body));
    expect(response).toMatchObject({ status: 400, code: 'request.upgrade_body' });
  });

  it('an empty declared body is accepted', async () => {
    const raw = await rawExchange(on, handshake(REALTIME, { 'content-length': '0' }), 3_000);
    expect(raw).toMatch(/^HTTP\/1\.1 101 /);
  });

  it('an unknown protocol is not selected', async () => {
    const raw = await rawExchange(on, handshake(REALTIME, { 'sec-websocket-protocol': 'soap' }));
    expect(raw).toMatch(/^HTTP\/1\.1 101 /);
    expect(raw).not.toMatch(/sec-websocket-protocol/i);
  });

  it('garbage after the handshake closes only that socket', async () => {
    const random = randomFrom(seed('upgrades W03'));
    for (let turn = 0; turn < scale(1000); turn++) {
      const garbage = Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256)));
      const head = Buffer.from(handshake(`${REALTIME}?api_key=${CLIENT_KEY}`));
      expect(await rawExchange(on, Buffer.concat([head, garbage]), 3_000)).toMatch(/^HTTP\/1\.1 101 /);
    }
    expect((await send(on, 'GET', '/api/health')).status).toBe(200);
  });
});
