import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listening, portOf } from '../kit/testing/listening.ts';
import { cutShort, letFinish, lingerAfter } from './linger.ts';

let server: Server;
/** How many body bytes reached the server, and when its socket went. */
let read: () => number;
let gone: Promise<void>;
/** What is done with a request before it is refused. */
let before: (req: IncomingMessage) => void = () => {};

beforeEach(async () => {
  server = createServer((req, res) => {
    const { socket } = req;
    read = () => socket.bytesRead;
    gone = new Promise((resolve) => socket.once('close', () => resolve()));
    res.setHeader('connection', 'close');
    before(req);
    lingerAfter(req);
    res.end('no');
  });
  await listening(server);
});

afterEach(async () => {
  before = () => {};
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => portOf(server);

describe('lingerAfter', () => {
  it('a sender of a large body reads the answer instead of a broken pipe', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const text = await new Promise<string>((resolve, reject) => {
        const req = request({ host: '127.0.0.1', port: port(), method: 'POST', agent: false }, (res) => {
          res.setEncoding('utf8').on('data', resolve);
        });
        req.on('error', reject);
        req.end(Buffer.alloc(20 << 20));
      });
      expect(text).toBe('no');
    }
  });

  it('takes little of the body and cuts a sender that neither reads nor leaves', async () => {
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n');
    const pump = () => {
      while (socket.writable && socket.write(Buffer.alloc(1 << 18)));
    };
    socket.on('drain', pump);
    pump();
    const started = performance.now();
    await new Promise((resolve) => server.once('request', resolve));
    await gone;
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(read()).toBeLessThan(8 << 20);
    socket.destroy();
  });

  /** A client that reads nothing before it has written all, and closes when it has read. */
  const writeThenRead = (bytes: number) =>
    new Promise<string>((resolve) => {
      const socket = connect({ port: port(), host: '127.0.0.1' });
      let text = '';
      socket.pause();
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      socket.on('error', (error) => resolve(String(error)));
      socket.on('close', () => resolve(text));
      socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${bytes}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes), () => socket.resume());
    });

  it('one whose body was asked for may write it all before he reads', async () => {
    before = (req) => letFinish(req, 20 << 20);
    expect(await writeThenRead(20 << 20)).toMatch(/^HTTP\/1.1 200 OK\r\n(?:.*\r\n)+no$/);
    await gone;
  });

  it('and only that much; not when it was taken back', async () => {
    before = (req) => letFinish(req, 2 << 20);
    expect(await Promise.race([writeThenRead(20 << 20), sleep(500, 'not read')])).toBe('not read');
    expect(read()).toBeLessThan(12 << 20);
    before = (req) => {
      letFinish(req, 20 << 20);
      cutShort(req);
    };
    expect(await writeThenRead(20 << 20)).toMatch(/Error/);
    expect(read()).toBeLessThan(12 << 20);
  });
});
