import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { listenOnLoopback, portOf } from '../testing/listening.ts';
import { openSocket } from './outbound-socket.ts';

let server: Server;
let sockets: WebSocketServer;
/** The response to an upgrade. */
let upgrade: 'accept' | 'refuse' | 'redirect' | 'silence';
let requests: string[];
const raw = new Set<Socket>();

beforeEach(async () => {
  [upgrade, requests] = ['accept', []];
  sockets = new WebSocketServer({ noServer: true });
  server = createServer();
  server.on('connection', (socket) => raw.add(socket));
  server.on('upgrade', (req, socket, head) => {
    requests.push(`${req.url} ${req.headers.authorization}`);
    if (upgrade === 'accept')
      sockets.handleUpgrade(req, socket, head, (client) => sockets.emit('connection', client));
    if (upgrade === 'refuse') socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    if (upgrade === 'redirect') socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n');
  });
  await listenOnLoopback(server);
});
afterEach(async () => {
  for (const socket of raw) socket.destroy();
  raw.clear();
  await new Promise((done) => server.close(done));
});

function open(origin = `http://127.0.0.1:${portOf(server)}`) {
  const texts: string[] = [];
  const ended = Promise.withResolvers<Error | null>();
  const request = {
    origin,
    path: '/ws?a=b',
    headers: { authorization: 'Bearer k' },
    connectTimeoutMs: 300,
    maxMessageBytes: 1000,
  };
  const socket = openSocket(request, { text: (text) => texts.push(text), ended: ended.resolve });
  return { socket, texts, ended: ended.promise };
}

test('emits text messages, ignores binary ones, and reports a close without an error', async () => {
  sockets.on('connection', (client) => {
    client.send(Buffer.from('bytes'));
    client.send('one');
    client.send('two');
    client.close();
  });
  const { texts, ended } = open();
  expect(await ended).toBeNull();
  expect(texts).toEqual(['one', 'two']);
  expect(requests).toEqual(['/ws?a=b Bearer k']);
});

test.each(['refuse', 'redirect', 'silence'] as const)(
  'an upgrade that meets %s ends with an error',
  async (how) => {
    upgrade = how;
    const { texts, ended } = open();
    expect(await ended).toBeInstanceOf(Error);
    expect([texts, requests.length]).toEqual([[], 1]);
    for (const client of sockets.clients) client.terminate();
  },
);

test('a message that is too long closes the socket', async () => {
  sockets.on('connection', (client) => client.send('x'.repeat(1001)));
  const { texts, ended } = open();
  expect((await ended)?.message).toContain('size');
  expect(texts).toEqual([]);
});

test('refuses a forbidden address', async () => {
  for (const origin of ['http://169.254.169.254', 'http://[fe80::1]:80']) {
    expect(((await open(origin).ended) as NodeJS.ErrnoException).code).toBe('ERR_UNREACHABLE_ADDRESS');
  }
});

test('emits nothing after terminate, also before the socket is open', async () => {
  const closed = new Promise<void>((done) =>
    sockets.on('connection', (client) => client.on('close', () => done())),
  );
  const early = open();
  early.socket.terminate();
  const late = open();
  await expect.poll(() => sockets.clients.size).toBe(1);
  late.socket.terminate();
  await closed;
  expect(await Promise.race([early.ended, late.ended, Promise.resolve('nothing')])).toBe('nothing');
});
