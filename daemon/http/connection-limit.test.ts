import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { enforceConnectionLimit } from './connection-limit.ts';
import { trackUnusedSockets } from './unused-sockets.ts';

const MAX_CONNECTIONS = 4;
const NONE = { silent: 0, idle: 0, stalled: 0, refused: 0 };
/** More than the system buffers for a reader that does not read. */
const LONG = Buffer.alloc(32 << 20, 'x');

/** `/held` responds when a test says so; anything else immediately. */
const pendingResponses: ServerResponse[] = [];
const warnings: Record<string, number>[] = [];
const clock = { now: 0, reads: 0 };
let server: ReturnType<typeof createServer>;
const sockets: Socket[] = [];

beforeEach(async () => {
  pendingResponses.length = 0;
  warnings.length = 0;
  clock.now = 0;
  clock.reads = 0;
  server = createServer((req, res) => {
    if (req.url === '/held') pendingResponses.push(res);
    else if (req.url === '/long') res.end(LONG);
    else res.end('served');
  });
  server.on('upgrade', (_req, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  const log = { warn: (counts: Record<string, number>) => void warnings.push(counts) };
  enforceConnectionLimit(server, trackUnusedSockets(server), {
    maxConnections: MAX_CONNECTIONS,
    log,
    now: () => {
      clock.reads += 1;
      return clock.now;
    },
    checkIntervalMs: 10,
  });
  await listenOnLoopback(server);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Connects and sends `text`. Resolves when the server has accepted the connection. */
async function client(text = ''): Promise<Socket> {
  const arrived = once(server, 'connection');
  const socket = connect(portOf(server), '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await arrived;
  if (text !== '') socket.write(text);
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
const HALF = 'GET / HTTP/1.1\r\nhost';

/** Connects, sends a request and waits for the beginning of the response. */
async function served(text = get('/')): Promise<Socket> {
  const socket = await client(text);
  await once(socket, 'data');
  return socket;
}

async function busy(): Promise<Socket> {
  const before = pendingResponses.length;
  const socket = await client(get('/held'));
  while (pendingResponses.length === before) await once(server, 'request');
  return socket;
}

const closed = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'));

it('B08 incomplete request heads block no client: the oldest are closed', async () => {
  const running = await busy();
  const first = await client(HALF);
  for (let index = 0; index < 5 * MAX_CONNECTIONS; index++) await client(HALF);
  await closed(first);
  for (let index = 0; index < 3; index++) (await served()).destroy();
  pendingResponses[0]?.end('late');
  expect(String(await once(running, 'data'))).toContain('late');
});

it('then idle keep-alive connections are closed, never active or upgraded ones', async () => {
  const running = await busy();
  const upgraded = await served('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  const [older, newer] = [await served(), await served()];
  await served();
  await closed(older);
  expect([running, upgraded, newer].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
});

it('a new connection is refused while all others are active', async () => {
  const running = [await busy(), await busy(), await busy(), await busy()];
  await closed(await client(get('/')));
  expect(running.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
  expect(warnings).toEqual([{ most: MAX_CONNECTIONS, ...NONE, refused: 1 }]);
});

it('is logged once a minute, with the counts since the last time', async () => {
  for (let index = 0; index < MAX_CONNECTIONS + 3; index++) await client(HALF);
  expect(warnings).toEqual([{ most: MAX_CONNECTIONS, ...NONE, silent: 1 }]);
  clock.now = 60_000;
  await client(HALF);
  expect(warnings[1]).toEqual({ most: MAX_CONNECTIONS, ...NONE, silent: 3 });
});

/** Requests the long response and reads only its beginning. */
async function unread(): Promise<Socket> {
  const socket = await served(get('/long'));
  socket.pause();
  return socket;
}

/** Waits for several samples, each of which reads the clock. The system fills its buffers before. */
async function waitForSamples(): Promise<void> {
  const enough = clock.reads + 15;
  while (clock.reads < enough) await new Promise((resolve) => setTimeout(resolve, 10));
}

it('S05 then the connection whose client has not read for the longest time is closed, never that of a slow reader', async () => {
  const serverSockets: Socket[] = [];
  server.on('connection', (socket) => serverSockets.push(socket));
  const slow = await unread();
  await unread();
  await waitForSamples();
  clock.now = 5_000;
  await unread();
  await unread();
  await waitForSamples();
  clock.now = 9_999;
  await closed(await client(get('/')));
  expect(warnings).toEqual([{ most: MAX_CONNECTIONS, ...NONE, refused: 1 }]);

  slow.resume();
  for (let received = 0; received < LONG.length / 4; )
    received += ((await once(slow, 'data')) as [Buffer])[0].length;
  slow.pause();
  await waitForSamples();
  clock.now = 10_000;
  await served();
  expect(serverSockets.slice(0, MAX_CONNECTIONS).map(({ destroyed }) => destroyed)).toEqual([
    false,
    true,
    false,
    false,
  ]);
  await served();
  expect(serverSockets.slice(0, MAX_CONNECTIONS).map(({ destroyed }) => destroyed)).toEqual([
    false,
    true,
    false,
    false,
  ]);
});
