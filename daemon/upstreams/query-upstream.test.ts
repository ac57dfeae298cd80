import { afterEach, beforeEach, expect, it } from 'vitest';
import { queryUpstream } from './query-upstream.ts';
import { listOf, UpstreamsBench } from './testing/bench.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const query = (origin: string, events: unknown[]) =>
  queryUpstream({
    outbound: bench.outbound,
    limitMs: 5_000,
    maxBytes: 1_000_000,
    signal: new AbortController().signal,
    observer: { onBegin: (status) => events.push(status), onData: () => events.push('data') },
    request: { origin, path: '/v1/models', method: 'GET', headers: [], body: null, idleMs: 5_000 },
  });

it('reports the status and the data of a response as they arrive', async () => {
  const events: unknown[] = [];
  const { url } = await bench.fakeUpstream(listOf('a'));
  await query(url, events);
  expect(events).toEqual([200, 'data']);
});

it('reports the status of a response that breaks', async () => {
  const events: unknown[] = [];
  const { url } = await bench.fakeUpstream((_req, res) => {
    res.writeHead(200, { 'content-length': '10' });
    res.write('half', () => setTimeout(() => res.destroy(), 10));
  });
  await expect(query(url, events)).rejects.toThrow();
  expect(events).toEqual([200, 'data']);
});
