import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outbound } from '../../lib/net/outbound.ts';
import { listenOnLoopback, portOf } from '../../lib/testing/listening.ts';
import type { Check } from '../engines/engine.ts';
import { CheckFailure, createEngineQuery, runChecks } from './health.ts';

let server: Server;
let listener: RequestListener = () => {};
let outbound: Outbound;
beforeEach(async () => {
  outbound = new Outbound({ connectMs: () => 1_000 });
  server = createServer((request, response) => listener(request, response));
  await listenOnLoopback(server);
});
afterEach(async () => {
  await outbound.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const endpoint = () => ({
  origin: `http://127.0.0.1:${portOf(server)}`,
  headers: { authorization: 'Bearer engine-key' },
});
const check = (over: Partial<Check> = {}): Check => ({
  name: 'health',
  method: 'GET',
  path: '/health',
  limitMs: 5_000,
  verdict: (status) => (status === 200 ? null : `status ${status}`),
  ...over,
});
const neverAborted = new AbortController().signal;
const run = (...checks: Check[]) => runChecks(createEngineQuery(outbound), endpoint(), checks, neverAborted);

describe('runChecks', () => {
  it('sends each check in order with the key of the engine and its body', async () => {
    const requests: string[] = [];
    listener = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      requests.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      response.end('{}');
    };
    await run(check(), check({ method: 'POST', path: '/v1/x', body: { a: 1 } }));
    expect(requests).toEqual(['GET /health Bearer engine-key ', 'POST /v1/x Bearer engine-key {"a":1}']);
  });

  it('stops at the first failed check and reports its reason', async () => {
    listener = (_, response) => response.writeHead(503).end();
    await expect(run(check(), check())).rejects.toThrow(new CheckFailure('status 503.'));
  });

  it('P04: an engine that accepts and never responds fails its check within the limit', async () => {
    let closed: () => void = () => {};
    const connectionClosed = new Promise<void>((done) => {
      closed = done;
    });
    listener = (request) => request.on('close', closed);
    await expect(run(check({ limitMs: 100, name: 'completion' }))).rejects.toThrow(
      /completion check in time/,
    );
    await connectionClosed;
  });

  it('an endless response is aborted', async () => {
    listener = (_, response) => {
      response.on('error', () => {});
      const pour = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 16)));
      };
      response.on('drain', pour);
      pour();
    };
    await expect(run(check())).rejects.toThrow(CheckFailure);
  });

  it('a closed port is a failed check', async () => {
    const dead = { origin: 'http://127.0.0.1:1', headers: {} };
    await expect(runChecks(createEngineQuery(outbound), dead, [check()], neverAborted)).rejects.toThrow(
      CheckFailure,
    );
  });

  it('an abort rejects with its own reason', async () => {
    const control = new AbortController();
    listener = () => control.abort(new Error('unloaded'));
    const requests = runChecks(createEngineQuery(outbound), endpoint(), [check()], control.signal);
    await expect(requests).rejects.toThrow('unloaded');
  });
});
