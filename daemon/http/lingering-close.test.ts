import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { allowBodyDrain, forbidDrain, lingerAfterResponse } from './lingering-close.ts';

let server: Server;
/** How many body bytes reached the server, and when its socket was closed. */
let read: () => number;
let socketClosed: Promise<void>;
/** Called before a request is refused. */
let before: (req: IncomingMessage) => void = () => {};

beforeEach(async () => {
  server = createServer((req, res) => {
    const { socket } = req;
    read = () => socket.bytesRead;
    socketClosed = new Promise((resolve) => socket.once('close', () => resolve()));
    res.setHeader('connection', 'close');
    before(req);
    lingerAfterResponse(req);
    res.end('no');
  });
  await listenOnLoopback(server);
});

afterEach(async () => {
  before = () => {};
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => portOf(server);

describe('lingerAfter', () => {
  it('a sender of a large body reads the response instead of a broken pipe', async () => {
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

  it('reads little of the body and disconnects a sender that neither reads nor closes', async () => {
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n');
    const writeMore = () => {
      while (socket.writable && socket.write(Buffer.alloc(1 << 18)));
    };
    socket.on('drain', writeMore);
    writeMore();
    const started = performance.now();
    await new Promise((resolve) => server.once('request', resolve));
    await socketClosed;
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

  it('the sender of an accepted body may write it all before reading', async () => {
    before = (req) => allowBodyDrain(req, 20 << 20);
    expect(await writeThenRead(20 << 20)).toMatch(/^HTTP\/1.1 200 OK\r\n(?:.*\r\n)+no$/);
    await socketClosed;
  });

  it('reads only the permitted bytes, and none after the permission was revoked', async () => {
    before = (req) => allowBodyDrain(req, 2 << 20);
    expect(await Promise.race([writeThenRead(20 << 20), sleep(500, 'not read')])).toBe('not read');
    expect(read()).toBeLessThan(12 << 20);
    before = (req) => {
      allowBodyDrain(req, 20 << 20);
      forbidDrain(req);
    };
    expect(await writeThenRead(20 << 20)).toMatch(/Error/);
    expect(read()).toBeLessThan(12 << 20);
  });
});

describe('a connection that stays open', () => {
  /**
   * Reads every body to its end and keeps the connection, but responds to `/refused` immediately and closes.
   */
  let keepAliveServer: Server;
  const ends = new Set<unknown>();
  beforeEach(async () => {
    ends.clear();
    keepAliveServer = createServer((req, res) => {
      allowBodyDrain(req, 20 << 20);
      ends.add(req.socket.destroySoon);
      if (req.url !== '/refused') return void req.resume().on('end', () => res.end('yes'));
      res.setHeader('connection', 'close');
      res.end('no');
    });
    await new Promise<void>((resolve) => keepAliveServer.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    keepAliveServer.closeAllConnections();
    await new Promise((resolve) => keepAliveServer.close(resolve));
  });

  const send = (agent: Agent, path: string, bytes: number) =>
    new Promise<string>((resolve, reject) => {
      const { port: at } = keepAliveServer.address() as AddressInfo;
      const req = request({ host: '127.0.0.1', port: at, path, method: 'POST', agent }, (res) => {
        let text = '';
        res.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        res.on('end', () => resolve(text));
      });
      req.on('error', reject);
      req.end(Buffer.alloc(bytes));
    });

  it('has one end for all its requests, and the last request may send its whole body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; turn < 5; turn++) expect(await send(agent, '/', 10)).toBe('yes');
    expect(ends.size).toBe(1);
    expect(await send(agent, '/refused', 20 << 20)).toBe('no');
    expect(ends.size).toBe(1);
    agent.destroy();
  });
});
