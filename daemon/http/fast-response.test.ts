import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { FastResponse } from './fast-response.ts';

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

/** Returns the response of `handle` byte for byte, and the chunks that were written to its socket. */
async function wireOf(handle: (res: FastResponse) => void, method = 'GET') {
  let pieces = 0;
  server = createServer({ ServerResponse: FastResponse }, (_, res) => handle(res as FastResponse));
  server.on('connection', (peer: Socket) => {
    const { _writev: lists } = peer;
    peer._writev = (chunks, done) => {
      pieces += chunks.length;
      lists?.call(peer, chunks, done);
    };
  });
  const socket = connect(await listenOnLoopback(server), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.end(`${method} / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  await new Promise((done) => socket.once('close', done));
  return { text, pieces };
}

/** Returns the head of that response without its date. */
async function headOf(handle: (res: FastResponse) => void, method = 'GET'): Promise<string[]> {
  const { text } = await wireOf(handle, method);
  const head = text.split('\r\n\r\n')[0] ?? '';
  return head.split('\r\n').filter((line) => !line.startsWith('Date: '));
}

it('headers that were set before, added or replaced by the head occur once', async () => {
  const lines = await headOf((res) => {
    res.setHeader('X-One', '1').setHeader('x-two', '2').setHeader('x-gone', 'g').setHeader('x-one', 'one');
    res.removeHeader('X-Gone');
    res.writeHead(201, { 'X-Two': 'two', 'content-length': 2 });
    res.end('ok');
  });
  expect(lines).toEqual([
    'HTTP/1.1 201 Created',
    'x-one: one',
    'x-two: two',
    'content-length: 2',
    'Connection: close',
  ]);
});

it('a response without its own head has the headers that were set, and lists become several lines', async () => {
  const lines = await headOf((res) => {
    res.setHeader('set-cookie', ['a=1', 'b=2']).appendHeader('set-cookie', 'c=3').appendHeader('x', 'y');
    res.statusCode = 204;
    res.end();
  });
  expect(lines).toEqual([
    'HTTP/1.1 204 No Content',
    'set-cookie: a=1',
    'set-cookie: b=2',
    'set-cookie: c=3',
    'x: y',
    'Connection: close',
  ]);
});

it('a length, transfer coding and connection header that were set are used, also with a reason and a list', async () => {
  const lines = await headOf((res) => {
    res.setHeader('connection', 'close');
    res.writeHead(200, 'Fine', ['content-length', 0]);
    res.end();
  }, 'HEAD');
  expect(lines).toEqual(['HTTP/1.1 200 Fine', 'connection: close', 'content-length: 0']);
});

it('returns the headers that are set', async () => {
  const values: unknown[] = [];
  await headOf((res) => {
    res.setHeader('A', 1).setHeader('b', 'two');
    values.push(res.getHeader('a'), res.getHeader('c'), res.hasHeader('B'), res.hasHeader('c'));
    values.push(res.getHeaderNames(), res.getHeaders());
    res.end();
  });
  expect(values).toEqual([1, undefined, true, false, ['a', 'b'], { a: 1, b: 'two' }]);
});

it('no header value can start a new line', async () => {
  const failed: unknown[] = [];
  const lines = await headOf((res) => {
    res.setHeader('x', 'a\r\nset-cookie: stolen=1');
    try {
      res.writeHead(200);
    } catch (error) {
      failed.push((error as NodeJS.ErrnoException).code);
    }
    res.removeHeader('x');
    res.end();
  });
  expect(failed).toEqual(['ERR_INVALID_CHAR']);
  expect(lines).toEqual(['HTTP/1.1 200 OK', 'Connection: close', 'Content-Length: 0']);
});

/** Every byte value, including invalid UTF-8. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
const LONG = Buffer.alloc(5_000, BYTES);
const bodyOf = ({ text }: { text: string }): string => text.slice(text.indexOf('\r\n\r\n') + 4);

it('a short body is written unchanged, in one piece with its head', async () => {
  const wire = await wireOf((res) => {
    res.writeHead(200, { 'content-length': BYTES.length });
    res.end(BYTES);
  });
  expect(Buffer.from(bodyOf(wire), 'latin1')).toEqual(BYTES);
  expect(wire.pieces).toBe(0);
});

it.each([
  ['a long body', [LONG], LONG.toString('latin1')],
  ['a piece after others', [LONG, BYTES], LONG.toString('latin1') + BYTES.toString('latin1')],
])('%s is written unchanged', async (_, chunks, body) => {
  const wire = await wireOf((res) => {
    res.writeHead(200, { 'content-length': body.length });
    for (const chunk of chunks.slice(0, -1)) res.write(chunk);
    res.end(chunks.at(-1));
  });
  expect(bodyOf(wire)).toBe(body);
});

it('a short body of unknown length is one chunk, and its callback is called', async () => {
  const done: string[] = [];
  const wire = await wireOf((res) => {
    res.writeHead(200);
    res.end(BYTES, () => done.push('called'));
  });
  expect(bodyOf(wire)).toBe(`100\r\n${BYTES.toString('latin1')}\r\n0\r\n\r\n`);
  expect(done).toEqual(['called']);
});

it('a response to HEAD has no body', async () => {
  const wire = await wireOf((res) => {
    res.writeHead(200, { 'content-length': BYTES.length });
    res.end(BYTES);
  }, 'HEAD');
  expect(bodyOf(wire)).toBe('');
});
