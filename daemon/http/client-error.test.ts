import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback, portOf } from '../lib/testing/listening.ts';
import { handleClientError } from './client-error.ts';

let server: Server;

beforeEach(async () => {
  server = createServer((req, res) => {
    if (req.url === '/stream') res.write('the beginning');
    else res.end('whole');
  });
  server.on('clientError', handleClientError);
  await listenOnLoopback(server);
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/**
 * Sends the texts in order, each after the first bytes of the previous response. Returns all received bytes.
 */
function exchange(...texts: string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(portOf(server), '127.0.0.1');
    let received = '';
    const next = () => {
      const text = texts.shift();
      if (text !== undefined) socket.write(text);
    };
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      next();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    next();
  });
}

describe('refuseUnparsed', () => {
  it('responds to bytes that are not a request with an envelope and closes', async () => {
    const answer = await exchange('rubbish\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('"code":"request.malformed"');
  });

  it('names headers that are too large', async () => {
    const answer = await exchange(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('responds to invalid bytes after a finished response', async () => {
    const answer = await exchange('GET /whole HTTP/1.1\r\nhost: a\r\n\r\n', 'rubbish\r\n\r\n');
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it('never writes into a response in progress: it only closes the socket', async () => {
    const answer = await exchange('GET /stream HTTP/1.1\r\nhost: a\r\n\r\n', 'rubbish\r\n\r\n');
    expect(answer).toContain('the beginning');
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });
});
