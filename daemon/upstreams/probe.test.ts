import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenOnLoopback } from '../lib/testing/listening.ts';
import { Listing } from './listing.ts';
import { probe } from './probe.ts';
import { type FakeUpstream, listOf, UpstreamsBench } from './testing/bench.ts';
import { Upstream } from './upstream.ts';
import { readUpstreamFile, type UpstreamConfig } from './upstream-file.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const clocks = { wall: () => 0, monotonic: () => 0 };
const upstreamAt = (url: string, more = '') => {
  const { config } = readUpstreamFile('desk.toml', `base_url = "${url}"\n${more}`);
  const deps = { clocks, environment: () => 'sk-desk-123456', isSelf: () => false };
  return new Upstream(config as UpstreamConfig, new Listing(clocks), deps);
};
const run = (url: string, more = '', signal = new AbortController().signal) =>
  probe(upstreamAt(url, more), { outbound: bench.outbound, instance: 'abc' }, signal);

describe('a probe', () => {
  it('requests the model list with the key of the upstream, and does not wait for the body', async () => {
    const upstream = await bench.fakeUpstream((_req, res) => void res.writeHead(200).write('{"data":['));
    expect(await run(upstream.url, 'key_env = "UPSTREAM_X"')).toBe('alive');
    expect(upstream.requests).toEqual(['/v1/models']);
    expect(upstream.headers[0]).toMatchObject({
      authorization: 'Bearer sk-desk-123456',
      'x-svc-hops': 'abc',
    });
  });

  it.each([
    [200, 'alive'],
    [401, 'alive'],
    [404, 'alive'],
    [429, 'alive'],
    [500, 'alive'],
    [503, 'alive'],
    [502, 'failed'],
    [504, 'failed'],
  ])('status %d: %s', async (status, expected) => {
    const upstream = await bench.fakeUpstream((_req, res) => void res.writeHead(status).end());
    expect(await run(upstream.url)).toBe(expected);
  });

  it('of a server that does not answer fails within 2 s', async () => {
    const upstream = await bench.fakeUpstream(() => {});
    const before = performance.now();
    expect(await run(upstream.url)).toBe('failed');
    expect(performance.now() - before).toBeGreaterThan(1_900);
  });

  it('of a server that breaks the connection fails', async () => {
    const upstream = await bench.fakeUpstream((_req, res) => void res.destroy());
    expect(await run(upstream.url)).toBe('failed');
  });

  it('of a closed port is refused', async () => {
    const server = createServer();
    const port = await listenOnLoopback(server);
    await new Promise((done) => server.close(done));
    expect(await run(`http://127.0.0.1:${port}`)).toBe('refused');
  });

  it('that is aborted shows nothing', async () => {
    const upstream = await bench.fakeUpstream(() => {});
    expect(await run(upstream.url, '', AbortSignal.timeout(50))).toBe('alive');
  });
});

describe('a vLLM', () => {
  const sleeping = (body: string | null, status = 200): Promise<FakeUpstream> =>
    bench.fakeUpstream((req, res) => {
      if (req.url?.endsWith('/models')) return listOf('m')(req, res);
      if (body === null) return undefined;
      res.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });

  it.each([
    ['in sleep mode', '{"is_sleeping":true}', 200, 'sleeping'],
    ['awake', '{"is_sleeping":false}', 200, 'alive'],
    ['without its development mode', '{"detail":"Not Found"}', 404, 'alive'],
  ])('%s', async (_, body, status, expected) => {
    const upstream = await sleeping(body, status);
    expect(await run(upstream.url, 'kind = "vllm"')).toBe(expected);
    expect(upstream.requests).toEqual(['/v1/models', '/is_sleeping']);
  });

  it('that does not answer the second request is alive, because its model list was served', async () => {
    expect(await run((await sleeping(null)).url, 'kind = "vllm"')).toBe('alive');
  });

  it('of any other kind is not queried', async () => {
    const upstream = await sleeping('{"is_sleeping":true}');
    expect(await run(upstream.url)).toBe('alive');
    expect(upstream.requests).toEqual(['/v1/models']);
  });
});
