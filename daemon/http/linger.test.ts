import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lingerAfter } from './linger.ts';

let server: Server;
/** How many body bytes reached the server, and when its socket went. */
let read: () => number;
let gone: Promise<void>;

beforeEach(async () => {
  server = createServer((req, res) => {
    const { socket } = req;
    read = () => socket.bytesRead;
    gone = new Promise((resolve) => socket.once('close', () => resolve()));
    res.setHeader('connection', 'close');
    lingerAfter(req);
    res.end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const port = () => (server.address() as AddressInfo).port;

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
});
