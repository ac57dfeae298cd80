/** Bodies over a real port: caps, types, codings, shapes, and bodies that are rejected unread. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until } from './harness/gateway.ts';
import { parseRaw, rawExchange, type SendOptions, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Sends headers at one byte per two seconds from the start of the suite, because their limit is 15 s. */
let slow: Promise<string>;

const gateway = new OneGateway(() => startLocked({ env: { SVC_LOGIN_RATELIMIT_MAX: '10000' } }));
beforeAll(async () => {
  slow = slowHeaders();
});

function slowHeaders(): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, '127.0.0.1');
    let text = '';
    socket.write('GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-a: ');
    const timer = setInterval(() => socket.write('a'), 2_000);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      resolve(text);
    });
  });
}

const post = (path: string, options: SendOptions) =>
  send(gateway, 'POST', path, { key: ADMIN_KEY, ...options });
const head = (path: string, headers: Record<string, string | number>, key = ADMIN_KEY) => {
  const lines = Object.entries({ host: 'localhost', authorization: `Bearer ${key}`, ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
};
const raw = async (bytes: string | Buffer, quietMs?: number) =>
  parseRaw(await rawExchange(gateway, bytes, quietMs));

describe('B01 caps', () => {
  it.each([
    ['/api/auth/login', 16 * KIB],
    ['/api/auth/rotate', 16 * KIB],
    ['/api/auth/logout', 16 * KIB],
    ['/api/memory', MIB],
    ['/api/dispatch/explain', MIB],
    ['/v1/chat/completions', 64 * MIB],
    ['/v1/embeddings', 64 * MIB],
    ['/v1/audio/speech', 64 * MIB],
    ['/v1/audio/transcriptions', 200 * MIB],
  ])('%s rejects a declared length of one byte over %i before the body, and closes', async (path, cap) => {
    const response = await raw(head(path, { ...JSON_TYPE, 'content-length': cap + 1 }));
    expect(response).toMatchObject({ status: 413, code: 'request.too_large' });
    expect(response.headers.connection).toBe('close');
    expect(JSON.parse(response.text)).toMatchObject({ error: { details: { limit_bytes: cap } } });
  });

  it('a body of exactly the limit is read', async () => {
    const key = 'k'.repeat(16 * KIB - '{"key":""}'.length);
    expect(await post('/api/auth/login', { body: { key } })).toMatchObject({ code: 'auth.invalid_key' });
    const text = 't'.repeat(MIB - '{"text":""}'.length);
    expect((await post('/api/memory', { body: { text } })).status).not.toBe(413);
    expect((await post('/api/memory', { body: { text: `${text}t` } })).status).toBe(413);
  });

  it.each([
    ['/api/auth/login', 16 * KIB],
    ['/api/memory', MIB],
  ])('%s ends a chunked body once it exceeds the limit', async (path, cap) => {
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const body = `9\r\n{"text":"\r\n${chunk.repeat(Math.ceil((2 * cap) / 0x4000))}`;
    const response = await raw(head(path, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }) + body, 5_000);
    expect(response).toMatchObject({ status: 413, code: 'request.too_large' });
    expect(response.headers.connection).toBe('close');
  });

  it('a chunked body of a /v1 route is ended too', async () => {
    const chunk = Buffer.from(`100000\r\n${'x'.repeat(MIB)}\r\n`);
    const bytes = Buffer.concat([
      Buffer.from(head('/v1/chat/completions', { ...JSON_TYPE, 'transfer-encoding': 'chunked' })),
      ...Array.from({ length: 66 }, () => chunk),
    ]);
    expect(await raw(bytes, 10_000)).toMatchObject({ status: 413, code: 'request.too_large' });
  });
});

describe('B02 the body of an unauthorised request', () => {
  const SIZE = 100 * MIB;

  it('a 100 MB POST is 401 at once, its body is not read, the connection closes', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    const started = performance.now();
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const block = Buffer.alloc(MIB, 'x');
      const pump = () => {
        while (socket.writable && socket.bytesWritten < SIZE && socket.write(block));
      };
      socket.on('drain', pump);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('close', () => resolve(received));
      socket.write(head('/v1/chat/completions', { ...JSON_TYPE, 'content-length': SIZE }, 'wrong'));
      pump();
    });
    const response = parseRaw(text);
    expect(response).toMatchObject({ status: 401, code: 'auth.required' });
    expect(response.headers.connection).toBe('close');
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(socket.bytesWritten - socket.writableLength).toBeLessThan(SIZE / 2);
  });

  it('an ordinary client always receives the error and never a broken pipe', async () => {
    for (let turn = 0; turn < 5; turn++) {
      const response = await send(gateway, 'POST', '/v1/chat/completions', {
        body: Buffer.alloc(20 * MIB, 'x'),
        headers: JSON_TYPE,
      });
      expect(response).toMatchObject({ status: 401, code: 'auth.required' });
      const fetched = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: JSON_TYPE,
        body: Buffer.alloc(20 * MIB, 'x'),
      });
      expect(fetched.status).toBe(401);
    }
  });

  it('an endless body to an open route without one gets a response and the connection is closed', async () => {
    const response = await raw(
      `${head('/api/auth/logout', { 'transfer-encoding': 'chunked' })}4\r\nabcd\r\n`,
      5_000,
    );
    expect(response.status).toBe(200);
    expect(response.headers.connection).toBe('close');
  });
});

describe('B08 slow and waiting senders', () => {
  function sendExpectingContinue(key: string): Promise<{ continued: boolean; status: number }> {
    return new Promise((resolve, reject) => {
      const body = JSON.stringify({ query: 'x' });
      const req = request({
        host: '127.0.0.1',
        port: gateway.port,
        method: 'POST',
        path: '/api/memory/search',
        agent: false,
        headers: {
          ...JSON_TYPE,
          authorization: `Bearer ${key}`,
          expect: '100-continue',
          'content-length': body.length,
        },
      });
      let continued = false;
      req.on('continue', () => {
        continued = true;
        req.end(body);
      });
      req.on('response', (res) => {
        res.resume();
        res.on('end', () => resolve({ continued, status: res.statusCode ?? 0 }));
      });
      req.on('error', reject);
      req.flushHeaders();
    });
  }

  it('Expect: 100-continue is answered only after every guard has passed', async () => {
    expect(await sendExpectingContinue('wrong')).toEqual({ continued: false, status: 401 });
    expect(await sendExpectingContinue(CLIENT_KEY)).toEqual({ continued: false, status: 403 });
    expect(await sendExpectingContinue(ADMIN_KEY)).toEqual({ continued: true, status: 200 });
  });

  it('a body over the limit gets no 100 either', async () => {
    const response = await raw(
      head('/api/auth/login', { ...JSON_TYPE, expect: '100-continue', 'content-length': 17 * KIB }),
    );
    expect(response.status).toBe(413);
  });

  it('an unknown expectation is 417', async () => {
    const response = await raw(
      head('/api/auth/login', { ...JSON_TYPE, expect: '200-ok', 'content-length': 2 }),
    );
    expect(response).toMatchObject({ status: 417, code: 'request.malformed' });
  });

  it('headers that do not arrive within 15 s are 408, while others are served', async () => {
    expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    expect(parseRaw(await slow)).toMatchObject({ status: 408, code: 'request.timeout' });
  }, 30_000);

  it('2,000 unfinished requests block no client, and the log reports them once', async () => {
    const sockets = Array.from({ length: 2_000 }, () => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write('GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-a: ');
      return socket;
    });
    await until(() => sockets.some(({ closed }) => closed), 'the oldest connection to be closed');
    for (let round = 0; round < 5; round++) {
      expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
    }
    for (const socket of sockets) socket.destroy();
    expect(gateway.output().match(/the connection limit is reached/g)).toHaveLength(1);
  }, 30_000);

  it('the connection of a peer that does not close after an error is closed', async () => {
    const started = performance.now();
    await new Promise<void>((resolve) => {
      const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
      socket.resume();
      socket.write('no request\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 300);
      socket.once('close', () => clearInterval(timer));
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
