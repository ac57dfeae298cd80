import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchWrites } from './write-batching.ts';

const responses: ServerResponse[] = [];
const server = createServer((_req, res) => void responses.push(res));
let alone = false;
const batching = batchWrites(server, () => alone);
const open: Socket[] = [];

/** Opens connections with `requests` requests each, all read by the server; their responses are in `responses`. */
async function callers(count: number, requests = 1): Promise<Socket[]> {
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  open.push(...sockets);
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(requests));
  while (responses.length < count * requests) await turn();
  return sockets;
}

const waits = (res: ServerResponse): boolean => (res.socket?.writableLength ?? 0) > 0;

beforeEach(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  responses.length = 0;
  alone = false;
  for (const socket of open.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

it('writes the responses of one event loop turn together at its end', async () => {
  await callers(3);
  for (const res of responses) res.end('answer');
  expect(responses.map(waits)).toEqual([true, true, true]);
  const sockets = responses.map((res) => res.socket);
  await turn();
  expect(sockets.map((socket) => socket?.writableLength)).toEqual([0, 0, 0]);
  for (const socket of open) expect(String((await once(socket, 'data'))[0])).toMatch(/200 OK[\s\S]*answer$/);
});

it('writes a single response immediately', async () => {
  alone = true;
  const [socket] = await callers(1);
  const [res] = responses as [ServerResponse];
  res.end('answer');
  expect(waits(res)).toBe(false);
  expect(String((await once(socket as Socket, 'data'))[0])).toMatch(/answer$/);
});

it('writes a partial response together with them', async () => {
  const [socket] = await callers(1);
  const [res] = responses as [ServerResponse];
  res.write('one');
  const [bytes] = await once(socket as Socket, 'data');
  expect(String(bytes)).toContain('one');
  res.write('two');
  const [more] = await once(socket as Socket, 'data');
  expect(String(more)).toContain('two');
});

it('delays many bytes no longer than Node does', async () => {
  await callers(1);
  const [res] = responses as [ServerResponse];
  const socket = res.socket as Socket;
  res.end(Buffer.alloc(32 * 1024));
  expect(socket.writableCorked).toBe(0);
});

it('writes pending data immediately on flush', async () => {
  await callers(2);
  for (const res of responses) res.end('answer');
  const sockets = responses.map((res) => res.socket);
  batching.flush();
  expect(sockets.map((socket) => socket?.writableLength)).toEqual([0, 0]);
  server.closeIdleConnections();
  for (const socket of open) expect(await text(socket)).toContain('answer');
});

it('keeps the order of responses on one connection, and the end of the last one', async () => {
  const [socket] = await callers(1);
  const all = text(socket as Socket);
  (socket as Socket).write(
    'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  while (responses.length < 3) await turn();
  responses[1]?.end('second');
  responses[0]?.end('first');
  responses[2]?.end('third');
  expect((await all).match(/first|second|third/g)).toEqual(['first', 'second', 'third']);
});

it('writes the others when one connection closed while its response was pending', async () => {
  const sockets = await callers(2);
  const closedSocket = responses[0]?.socket;
  const other = sockets.find(({ localPort }) => localPort !== closedSocket?.remotePort);
  for (const res of responses) res.end('answer');
  closedSocket?.destroy();
  const [bytes] = await once(other as Socket, 'data');
  expect(String(bytes)).toContain('answer');
});
