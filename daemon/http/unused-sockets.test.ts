import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { trackUnusedSockets } from './unused-sockets.ts';

const server = createServer((_req, res) => void res.write('started'));
const silentSockets = trackUnusedSockets(server);
const open: Socket[] = [];

async function client(): Promise<Socket> {
  const arrived = once(server, 'connection');
  const socket = connect(portOf(server), '127.0.0.1');
  socket.on('error', () => {});
  open.push(socket);
  await arrived;
  return socket;
}

beforeEach(async () => {
  await listenOnLoopback(server);
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

it('closes connections without a complete request head, and no others', async () => {
  const [silent, halfway, busy] = [await client(), await client(), await client()];
  halfway.write('GET / HTTP/1.1\r\nhost');
  busy.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(busy, 'data');
  const ended = Promise.all([once(silent, 'close'), once(halfway, 'close')]);
  silentSockets.destroyAll();
  await ended;
  expect(busy.destroyed).toBe(false);
  busy.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  expect(busy.writable).toBe(true);
});
