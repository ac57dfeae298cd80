import { createServer, type Server } from 'node:http';
import { createServer as createTcp, type LookupFunction, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { listenOnLoopback, portOf } from '../testing/listening.ts';
import { isDrop, isUnwrittenError, Outbound, type OutboundRequest } from './outbound.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function outbound(connectMs = 1000): Outbound {
  const client = new Outbound({ connectMs: () => connectMs });
  closers.push(() => client.close());
  return client;
}

async function listen(server: Server | ReturnType<typeof createTcp>): Promise<string> {
  await listenOnLoopback(server);
  closers.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${portOf(server)}`;
}

const get = (origin: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  origin,
  path: '/',
  method: 'GET',
  headers: ['x-a', 'b'],
  body: null,
  idleMs: 2000,
  ...more,
});

function send(out: Outbound, request: OutboundRequest): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const parts: Buffer[] = [];
    out.dispatch(request, {
      onResponseStart: (_controller, code) => {
        status = code;
      },
      onResponseData: (_controller, chunk) => void parts.push(chunk),
      onResponseEnd: () => resolve({ status, body: Buffer.concat(parts).toString() }),
      onResponseError: (_controller, error) => reject(error),
      onRequestStart: () => {},
    });
  });
}

/** Used by no other test, so that none listens on the same port of it. */
const LOOPBACK = '127.31.7.9';
/** Orders in which resolvers return the addresses of `localhost`, and an address on which nothing listens. */
const ORDERS: Readonly<Record<string, readonly [address: string, family: number][]>> = {
  'IPv6 first': [
    ['::1', 6],
    [LOOPBACK, 4],
  ],
  'IPv4 first': [
    [LOOPBACK, 4],
    ['::1', 6],
  ],
  'each twice, as /etc/hosts of Debian': [
    ['::1', 6],
    ['::1', 6],
    [LOOPBACK, 4],
    [LOOPBACK, 4],
  ],
  'behind other addresses of the host': [
    ['127.0.0.99', 4],
    ['127.0.1.1', 4],
    ['::1', 6],
    [LOOPBACK, 4],
  ],
};

test.for(
  Object.keys(ORDERS).flatMap((order) => [LOOPBACK, '::1'].map((address) => [address, order] as const)),
)('localhost is reached on %s alone (%s)', async ([address, order], context) => {
  const server = createServer((_, res) => void res.end('ok'));
  const isListening = await new Promise<boolean>((done) => {
    server.once('error', () => done(false)).listen(0, address, () => done(true));
  });
  if (!isListening) return context.skip(`this machine has no ${address}`);
  closers.push(() => new Promise((done) => server.close(done)));
  const both: LookupFunction = (_name, _options, done) =>
    done(
      null,
      (ORDERS[order] ?? []).map(([each, family]) => ({ address: each, family })),
    );
  const client = new Outbound({ connectMs: () => 1000, lookup: both });
  closers.push(() => client.close());
  expect(await send(client, get(`http://localhost:${portOf(server)}`))).toEqual({ status: 200, body: 'ok' });
});

test('sends the given headers, and adds only host and connection', async () => {
  const headerNames: string[][] = [];
  const server = createServer((req, res) => {
    headerNames.push(req.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
    res.end('ok');
  });
  const origin = await listen(server);
  expect(await send(outbound(), get(origin))).toEqual({ status: 200, body: 'ok' });
  expect(headerNames[0]?.sort()).toEqual(['connection', 'host', 'x-a']);
});

test('a body in chunks arrives complete, with a content length', async () => {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
    res.end(
      JSON.stringify({ length, coding: coding ?? null, bytes: Buffer.concat(chunks).toString('latin1') }),
    );
  });
  const origin = await listen(server);
  const body = [Buffer.from('a'.repeat(300_000)), Buffer.from('b'), Buffer.from('c'.repeat(300_000))];
  const out = outbound();
  for (const fresh of [false, false, true]) {
    const answer = await send(out, get(origin, { method: 'POST', body, fresh }));
    const bytes = Buffer.concat(body).toString('latin1');
    expect(JSON.parse(answer.body)).toEqual({ length: '600001', coding: null, bytes });
  }
});

test('does not follow a redirect', async () => {
  let hits = 0;
  const canary = await listen(
    createServer((_req, res) => {
      hits++;
      res.end();
    }),
  );
  const origin = await listen(
    createServer((_req, res) => {
      res.writeHead(307, { location: canary });
      res.end();
    }),
  );
  expect((await send(outbound(), get(origin))).status).toBe(307);
  expect(hits).toBe(0);
});

test('a silent peer fails within the idle limit', async () => {
  const origin = await listen(createServer(() => {}));
  await expect(send(outbound(), get(origin, { idleMs: 100 }))).rejects.toMatchObject({
    code: 'UND_ERR_HEADERS_TIMEOUT',
  });
});

test('does not send again what a reused connection has received before it dies', async () => {
  const sockets = new Map<Socket, number>();
  const server = createTcp((socket) => {
    sockets.set(socket, 0);
    socket.on('error', () => {});
    socket.on('data', () => {
      const served = sockets.get(socket) ?? 0;
      sockets.set(socket, served + 1);
      if (served === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      else socket.resetAndDestroy();
    });
  });
  const origin = await listen(server);
  const out = outbound();
  await send(out, get(origin));
  await new Promise(setImmediate); // The client returns the connection to its pool one event loop turn after the response.
  const error: Error = await send(out, get(origin)).then(
    () => new Error('it answered'),
    (cause) => cause,
  );
  expect(isUnwrittenError(error)).toBe(false);
  expect(await send(out, get(origin, { fresh: true }))).toEqual({ status: 200, body: 'ok' });
  expect(sockets.size).toBe(2);
});

/** A server in another thread that answers once per connection and resets it when `flag` becomes 1. */
const RESETTING = `
const { parentPort, workerData } = require('node:worker_threads');
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', () => socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok'));
  const timer = setInterval(() => {
    if (Atomics.load(workerData, 0) !== 1) return;
    clearInterval(timer);
    socket.resetAndDestroy();
    Atomics.store(workerData, 0, 2);
    Atomics.notify(workerData, 0);
  }, 1);
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('a reused connection that was reset before anything was written fails before the request starts', async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(RESETTING, { eval: true, workerData: flag });
  closers.push(() => worker.terminate());
  const port = await new Promise((resolve) => worker.once('message', resolve));
  const out = outbound();
  const origin = `http://127.0.0.1:${port}`;
  await send(out, get(origin));
  await new Promise(setImmediate);
  // The reset arrives while this thread cannot notice it.
  Atomics.store(flag, 0, 1);
  Atomics.wait(flag, 0, 1, 5_000);
  Atomics.wait(flag, 0, 2, 100);
  const events: unknown[] = [];
  const failed = new Promise<void>((resolve) => {
    out.dispatch(get(origin, { method: 'POST', body: Buffer.from('{}') }), {
      onRequestStart: () => void events.push('started'),
      onResponseStart: () => void events.push('answered'),
      onResponseData: () => {},
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => {
        events.push(isDrop(error));
        resolve();
      },
    });
  });
  await failed;
  expect(events).toEqual([true]);
});

test('recognises a connection that closes before the first byte of a body that is read slowly', async () => {
  const origin = await listen(createTcp((socket) => void setTimeout(() => socket.destroy(), 20)));
  const body = { length: 5, stream: () => new Readable({ read: () => {} }) };
  const error: Error = await send(outbound(), get(origin, { method: 'POST', body })).then(
    () => new Error('it answered'),
    (cause) => cause,
  );
  expect([isDrop(error), isUnwrittenError(error)]).toEqual([true, true]);
});

test('does not treat a first connection that dies after a request as unwritten', async () => {
  const origin = await listen(createTcp((socket) => void socket.on('data', () => socket.resetAndDestroy())));
  const error: Error = await send(outbound(), get(origin)).then(
    () => new Error('it answered'),
    (cause) => cause,
  );
  expect(isUnwrittenError(error)).toBe(false);
});

/**
 * An engine that responds to the first request of a connection, and to the second with these bytes before it
 * closes. Null stays silent.
 */
async function secondTime(bytes: string | null): Promise<string> {
  const tcp = createTcp((socket) => {
    let served = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      if (served++ === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      else if (bytes !== null) socket.end(bytes);
    });
  });
  return listen(tcp);
}

test.each([
  ['a part of the head', 'HTTP/1.1 200 OK\r\nconte', false],
  ['an interim answer', 'HTTP/1.1 103 Early Hints\r\n\r\n', false],
  ['garbage', 'garbage\r\n\r\n', false],
  ['only the end of the connection', '', false],
  ['nothing', null, false],
])('a reused connection that returns %s', async (_, bytes, isStale) => {
  const origin = await secondTime(bytes);
  const out = outbound();
  await send(out, get(origin));
  await new Promise(setImmediate);
  const error: Error = await send(out, get(origin, { idleMs: 300 })).then(
    () => new Error('it answered'),
    (cause) => cause,
  );
  expect([error.message === 'it answered', isUnwrittenError(error)]).toEqual([false, isStale]);
});

test.each(['HTTP/1.1 200 OK\r\nconte', 'garbage\r\n\r\n'])(
  'a first connection that starts a response (%j) is not treated as unwritten',
  async (bytes) => {
    const origin = await listen(createTcp((socket) => void socket.on('data', () => socket.end(bytes))));
    const error: Error = await send(outbound(), get(origin)).then(
      () => new Error('it answered'),
      (cause) => cause,
    );
    expect([error.message === 'it answered', isUnwrittenError(error)]).toEqual([false, false]);
  },
);

test('after close every request fails', async () => {
  const origin = await listen(createServer((_req, res) => void res.end('ok')));
  const out = outbound();
  await out.close();
  await expect(send(out, get(origin))).rejects.toThrow();
});

test.each(['http://169.254.169.254', 'http://[fd00:ec2::254]', 'http://0.0.0.0:1', 'https://169.254.1.1'])(
  'DL06 refuses to connect to %s',
  async (origin) => {
    await expect(send(outbound(), get(origin))).rejects.toThrow(/never connects to/);
  },
);

test('connects to the checked address of a name, and not at all when one is forbidden', async () => {
  const origin = await listen(createServer((_req, res) => res.end('ok')));
  const { port } = new URL(origin);
  let answers = ['127.0.0.1'];
  const lookup: LookupFunction = (_name, _options, callback) =>
    callback(
      null,
      answers.map((address) => ({ address, family: 4 })),
    );
  const client = new Outbound({ connectMs: () => 1000, lookup });
  closers.push(() => client.close());
  expect((await send(client, get(`http://desk.test:${port}`))).body).toBe('ok');
  answers = ['127.0.0.1', '169.254.169.254'];
  const rebound = get(`http://desk.test:${port}`, { fresh: true });
  await expect(send(client, rebound)).rejects.toThrow(/never connects to/);
});
