import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Outbound } from '../net/outbound.ts';
import { scratch } from '../testing/scratch.ts';
import { type EngineCall, exchangeOver } from './exchange.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function exchange(socketPath: string) {
  const outbound = new Outbound({ connectMs: () => 1000 });
  closers.push(() => outbound.close());
  return exchangeOver(outbound, socketPath);
}

/** A server on a unix socket that simulates an engine. */
async function standIn(listener: RequestListener): Promise<string> {
  const folder = scratch();
  const server = createServer(listener);
  const path = join(folder, 's');
  await new Promise<void>((done) => server.listen(path, done));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return path;
}

const call = (more: Partial<EngineCall> = {}): EngineCall => ({
  method: 'GET',
  path: '/x',
  limitMs: 5000,
  ...more,
});

test('sends and receives JSON over HTTP on a unix socket', async () => {
  const requests: unknown[] = [];
  const path = await standIn((req, res) => {
    let text = '';
    req.on('data', (chunk) => {
      text += chunk;
    });
    req.on('end', () => {
      requests.push([req.method, req.url, req.headers['content-type'], text]);
      res.writeHead(201).end('{"Id":"a"}');
    });
  });
  const answer = await exchange(path)(call({ method: 'POST', body: { a: 1 } }));
  expect(answer).toEqual({ status: 201, text: '{"Id":"a"}' });
  expect(requests).toEqual([['POST', '/x', 'application/json', '{"a":1}']]);
});

test('does not collect a 2xx response that goes to onData, but collects an error response', async () => {
  const path = await standIn((req, res) => res.writeHead(req.url === '/x' ? 200 : 404).end('words'));
  const chunks: string[] = [];
  const onData = (chunk: Buffer) => void chunks.push(chunk.toString());
  expect(await exchange(path)(call({ onData }))).toEqual({ status: 200, text: '' });
  expect(await exchange(path)(call({ path: '/y', onData }))).toEqual({ status: 404, text: 'words' });
  expect(chunks).toEqual(['words']);
});

test('limits the whole call, even while bytes arrive', async () => {
  const path = await standIn((_req, res) => {
    const beat = setInterval(() => res.write('.'), 10);
    res.on('close', () => clearInterval(beat));
  });
  await expect(exchange(path)(call({ limitMs: 150 }))).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('an abort rejects with its own reason', async () => {
  const arrived = Promise.withResolvers<void>();
  const path = await standIn(() => arrived.resolve());
  const control = new AbortController();
  const response = exchange(path)(call({ signal: control.signal }));
  await arrived.promise;
  control.abort(new Error('enough'));
  await expect(response).rejects.toThrow('enough');
});

test('aborts an endless response', async () => {
  const path = await standIn((_req, res) => {
    const fill = () => {
      while (res.write(Buffer.alloc(1 << 20)));
    };
    res.on('drain', fill);
    fill();
  });
  await expect(exchange(path)(call())).rejects.toThrow('too large');
});

test('an absent socket rejects with the system error code', async () => {
  await expect(exchange('/nowhere/s')(call())).rejects.toMatchObject({ code: 'ENOENT' });
});
