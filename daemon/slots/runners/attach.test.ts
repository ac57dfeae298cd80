import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outbound } from '../../lib/net/outbound.ts';
import { listenOnLoopback, portOf } from '../../lib/testing/listening.ts';
import type { LaunchFor } from '../engines/engine.ts';
import type { UnloadCall } from '../engines/run-spec.ts';
import { createEngineQuery, type QueryEngine } from '../lifecycle/health.ts';
import { workerLaunch } from '../testing/launches.ts';
import { createAttachRunner } from './attach.ts';
import type { RunningEngine } from './runner.ts';

let outbound: Outbound;
let server: Server;
let status: number;
let receivedHeaders: IncomingHttpHeaders[];
/** How many requests are answered with 500 before `status` is sent again. */
let failures: number;
let requests: string[];
const started: RunningEngine[] = [];

/** Listens on a free port, or on the port that it had before. */
async function listen(port = 0): Promise<number> {
  server = createServer((req, res) => {
    receivedHeaders.push(req.headers);
    requests.push(`${req.method} ${req.url}`);
    res.writeHead(failures-- > 0 ? 500 : status);
    res.end('{"status":"x"}');
  });
  return listenOnLoopback(server, port);
}
const close = () =>
  new Promise<void>((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });

beforeEach(() => {
  outbound = new Outbound({ connectMs: () => 1_000 });
  [status, failures, receivedHeaders, requests] = [200, 0, [], []];
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((run) => run.stop(0)));
  await outbound.close();
  if (server?.listening) await close();
});

function attach(
  port: number,
  over: {
    host?: string;
    query?: QueryEngine;
    keyVariable?: string | null;
    self?: boolean;
    probe?: LaunchFor<'attach'>['how']['probe'];
    unloadCall?: UnloadCall;
    intervalMs?: number;
    minOutageMs?: number;
  } = {},
): RunningEngine {
  const { host = '127.0.0.1', keyVariable = null, self = false, unloadCall, minOutageMs = 0 } = over;
  const { probe = { path: '/health', loading: [503] } } = over;
  const runner = createAttachRunner({
    environment: (name) => (name === 'UPSTREAM_KEY' ? 'theirs' : undefined),
    query: over.query ?? createEngineQuery(outbound),
    isSelf: async () => self,
    watch: { intervalMs: over.intervalMs ?? 20, maxMisses: 3, minOutageMs },
  });
  const how = {
    runner: 'attach',
    url: `http://${host}:${port}`,
    keyVariable,
    probe,
    unloadCall,
  } as const;
  const run = runner.start({ ...workerLaunch(), how });
  started.push(run);
  return run;
}

describe('an attached server', () => {
  it('that responds is loaded; it gets the key of the variable, and detaching does not stop it', async () => {
    const port = await listen();
    const run = attach(port, { keyVariable: 'UPSTREAM_KEY' });
    expect(await run.loaded).toEqual({
      origin: `http://127.0.0.1:${port}`,
      headers: { authorization: 'Bearer theirs' },
      device: 'remote',
      context: 512,
      parallel: 1,
      threads: 1,
    });
    expect(receivedHeaders[0]?.authorization).toBe('Bearer theirs');
    expect((await run.stop(0)).reason).toBe('The slot was detached from the server.');
    expect(server.listening).toBe(true);
    expect(run).toMatchObject({ pid: null });
  });

  it('may start later, and gets no key when none is set', async () => {
    const port = await listen();
    await close();
    const run = attach(port);
    await listen(port);
    expect((await run.loaded).headers).toEqual({});
    expect(receivedHeaders[0]?.authorization).toBeUndefined();
  });

  it('that is gone is noticed at once when a call has failed', async () => {
    const port = await listen();
    const run = attach(port, { intervalMs: 600_000 });
    await run.loaded;
    expect(await run.check?.()).toBe(true);
    await close();
    void run.check?.();
    expect((await run.ended).reason).toBe(
      'Nothing listens at the address of url: the connection was refused.',
    );
  });

  it('that restarts within a moment after a failed call stays', async () => {
    const port = await listen();
    const run = attach(port, { intervalMs: 600_000 });
    await run.loaded;
    await close();
    const checked = run.check?.();
    expect(run.check?.()).toBe(checked);
    await listen(port);
    expect(await checked).toBe(true);
    status = 500;
    expect(await run.check?.()).toBe(false);
  });

  it('gets one unload call, if configured, and its response changes nothing', async () => {
    const unloadCall = { path: '/free', body: { unload_models: true } };
    const run = attach(await listen(), { unloadCall });
    await run.loaded;
    status = 500;
    await Promise.all([run.stop(10_000), run.stop(10_000)]);
    expect(requests.filter((each) => each === 'POST /free')).toHaveLength(1);
    expect((await run.ended).reason).toBe('The slot was detached from the server.');
  });

  it('that was never loaded or is unreachable gets no unload call', async () => {
    const unloadCall = { path: '/free', body: {} };
    status = 503;
    const run = attach(await listen(), { unloadCall });
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await run.stop(10_000);
    expect(requests).not.toContain('POST /free');
    status = 200;
    const second = attach(portOf(server), { unloadCall });
    await second.loaded;
    await close();
    await second.ended;
    await second.stop(10_000);
  });

  it('that stays unreachable ends with its reason; a short outage does not end it', async () => {
    const port = await listen();
    const run = attach(port);
    await run.loaded;
    // One less than the number that ends it.
    failures = 2;
    const before = receivedHeaders.length;
    await expect.poll(() => receivedHeaders.length).toBeGreaterThan(before + 5);
    await close();
    expect((await run.ended).reason).toBe('The attached server no longer answers.');
  });

  it('is not given up after quick failures, however many: only after a minimum time', async () => {
    const port = await listen();
    const since = performance.now();
    const run = attach(port, { minOutageMs: 1_500 });
    await run.loaded;
    failures = 20;
    const before = requests.length;
    await expect.poll(() => requests.length).toBeGreaterThan(before + 22);
    await close();
    expect((await run.ended).reason).toBe('The attached server no longer answers.');
    expect(performance.now() - since).toBeGreaterThan(1_500);
  });

  it('is not given up because three calls failed quickly', async () => {
    const run = attach(await listen(), { intervalMs: 600_000, minOutageMs: 600_000 });
    await run.loaded;
    status = 500;
    for (let count = 0; count < 5; count++) expect(await run.check?.()).toBe(false);
    status = 200;
    expect(await run.check?.()).toBe(true);
    expect((await run.stop(0)).reason).toBe('The slot was detached from the server.');
  });

  it('that is another server is refused with its status', async () => {
    status = 401;
    const run = attach(await listen());
    expect((await run.ended).reason).toBe('The engine answered its health check with status 401.');
  });

  it('with the body of another program is refused', async () => {
    const run = attach(await listen(), { probe: { path: '/', loading: [], contains: '"system"' } });
    expect((await run.ended).reason).toBe('The engine answered its health check with status 200.');
  });
});

it.each([
  ['127.0.0.1', 'Nothing listens at the address of url: the connection was refused.'],
  ['localhost', 'Nothing listens at the address of url: the connection was refused.'],
  // Its empty label makes the resolver refuse it without a query.
  ['nothing..invalid', 'The host name of url cannot be resolved.'],
])('a server at %s that is not there fails within 2 s, with the cause', async (host, reason) => {
  const port = await listen();
  await close();
  const startedAt = performance.now();
  expect((await attach(port, { host }).ended).reason).toBe(reason);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

it('a server that responds now and then while it is loading is not given up', async () => {
  const script = ['refused', 'refused', 'refused', 503, 'refused', 'refused', 200] as const;
  let sent = 0;
  const query: QueryEngine = async () => {
    const next = script[sent++] ?? 200;
    if (next !== 'refused') return { status: next, body: '' };
    throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  };
  await attach(1, { query }).loaded;
  expect(sent).toBe(script.length);
});

it('an unset variable is named, and no request is sent', async () => {
  const run = attach(await listen(), { keyVariable: 'UPSTREAM_OTHER' });
  expect((await run.ended).reason).toBe('The variable UPSTREAM_OTHER that key_env names is not set.');
  expect(receivedHeaders).toEqual([]);
});

it('the gateway itself never gets a request', async () => {
  const run = attach(await listen(), { self: true });
  expect((await run.ended).reason).toBe('The address of url is this gateway itself.');
  expect(receivedHeaders).toEqual([]);
});

it('can be detached while no server responds', async () => {
  const port = await listen();
  await close();
  const run = attach(port);
  expect((await run.stop(0)).reason).toBe('The slot was detached from the server.');
});
