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
