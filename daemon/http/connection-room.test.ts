import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listening, portOf } from '../kit/testing/listening.ts';
import { keepRoom } from './connection-room.ts';
import { followSilent } from './silent-sockets.ts';

const MOST = 4;

/** `/held` is answered when a test says so; anything else at once. */
const held: ServerResponse[] = [];
const told: Record<string, number>[] = [];
const clock = { now: 0 };
let server: ReturnType<typeof createServer>;
const sockets: Socket[] = [];

beforeEach(async () => {
  held.length = 0;
  told.length = 0;
  clock.now = 0;
  server = createServer((req, res) => {
    if (req.url === '/held') held.push(res);
    else res.end('served');
  });
  server.on('upgrade', (_req, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  const log = { warn: (counts: Record<string, number>) => void told.push(counts) };
  keepRoom(server, followSilent(server), { most: MOST, log, now: () => clock.now });
  await listening(server);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Connects and says `words`; the server has accepted it by then. */
async function client(words = ''): Promise<Socket> {
  const arrived = once(server, 'connection');
  const socket = connect(portOf(server), '127.0.0.1');
  socket.on('error', () => {});
  sockets.push(socket);
  await arrived;
  if (words !== '') socket.write(words);
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;
const HALF = 'GET / HTTP/1.1\r\nhost';

/** Connects, asks, and has heard the beginning of an answer. */
async function served(words = get('/')): Promise<Socket> {
  const socket = await client(words);
  await once(socket, 'data');
  return socket;
}

async function busy(): Promise<Socket> {
  const before = held.length;
  const socket = await client(get('/held'));
  while (held.length === before) await once(server, 'request');
  return socket;
}

const gone = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'));

it('B08 half heads without end keep nobody out: the oldest of them leave', async () => {
  const running = await busy();
  const first = await client(HALF);
  for (let index = 0; index < 5 * MOST; index++) await client(HALF);
  await gone(first);
  for (let index = 0; index < 3; index++) (await served()).destroy();
  held[0]?.end('late');
  expect(String(await once(running, 'data'))).toContain('late');
});

it('then those leave that are between two requests, never one that is served or was upgraded', async () => {
  const running = await busy();
  const upgraded = await served('GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
  const [older, newer] = [await served(), await served()];
  await served();
  await gone(older);
  expect([running, upgraded, newer].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
});

it('one that comes while all are served is refused', async () => {
  const running = [await busy(), await busy(), await busy(), await busy()];
  await gone(await client(get('/')));
  expect(running.map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
  expect(told).toEqual([{ most: MOST, silent: 0, idle: 0, refused: 1 }]);
});

it('is told once a minute, with the numbers since it was told last', async () => {
  for (let index = 0; index < MOST + 3; index++) await client(HALF);
  expect(told).toEqual([{ most: MOST, silent: 1, idle: 0, refused: 0 }]);
  clock.now = 60_000;
  await client(HALF);
  expect(told[1]).toEqual({ most: MOST, silent: 3, idle: 0, refused: 0 });
});
