import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ListReader } from './list-reader.ts';
import { Listing } from './listing.ts';
import { listOf, UpstreamsBench } from './testing/bench.ts';
import { Upstream } from './upstream.ts';
import { readUpstreamFile, type UpstreamConfig } from './upstream-file.ts';

let bench: UpstreamsBench;
beforeEach(() => {
  bench = new UpstreamsBench();
});
afterEach(() => bench.remove());

const clocks = { wall: () => Date.now(), monotonic: () => performance.now() };
const neverAborted = new AbortController().signal;

function upstream(name: string, url: string): Upstream {
  const { config } = readUpstreamFile(`${name}.toml`, `base_url = "${url}"`);
  const parts = { clocks, environment: () => undefined, isSelf: () => false };
  return new Upstream(config as UpstreamConfig, new Listing(clocks), parts);
}

function reader(allMs?: number) {
  const read: string[] = [];
  const listReader = new ListReader({
    outbound: bench.outbound,
    instance: 'aa',
    connectMs: () => 1000,
    onRead: (one) => void read.push(one.config.name),
    ...(allMs === undefined ? {} : { allMs }),
  });
  return { listReader, read };
}

it('reads four lists at a time, and the others as these complete', async () => {
  const open: ServerResponse[] = [];
  const fakeUpstream = await bench.fakeUpstream((_req, res) => void open.push(res));
  const all = Array.from({ length: 6 }, (_, index) => upstream(`u${index}`, fakeUpstream.url));
  const { listReader, read } = reader();
  const done = listReader.readAll(all, neverAborted);
  await expect.poll(() => open.length).toBe(4);
  expect(fakeUpstream.requests).toHaveLength(4);
  for (const res of open.splice(0)) listOf('m')(undefined as never, res as never);
  await expect.poll(() => open.length).toBe(2);
  for (const res of open) listOf('m')(undefined as never, res as never);
  await done;
  expect(read.sort()).toEqual(['u0', 'u1', 'u2', 'u3', 'u4', 'u5']);
  expect(all.every(({ models }) => models.length === 1)).toBe(true);
});

it('ends at the total time limit, uses the received lists, and marks no upstream as failed that was not awaited', async () => {
  const slow = await bench.fakeUpstream(() => {});
  const fast = await bench.fakeUpstream(listOf('m'));
  const all = [upstream('slow', slow.url), upstream('fast', fast.url)];
  const { listReader, read } = reader(300);
  await listReader.readAll(all, neverAborted);
  expect(read).toEqual(['fast']);
  expect(all.map(({ health }) => health)).toEqual(['unknown', 'ok']);
});

it('one request serves waiting and background readers; a disconnected caller does not cancel it for others', async () => {
  const open: ServerResponse[] = [];
  const fakeUpstream = await bench.fakeUpstream((_req, res) => void open.push(res));
  const one = upstream('one', fakeUpstream.url);
  const { listReader } = reader();
  const leaving = new AbortController();
  const left = listReader.readAll([one], leaving.signal);
  listReader.readInBackground(one);
  await expect.poll(() => open.length).toBe(1);
  leaving.abort();
  await left;
  listOf('m')(undefined as never, open[0] as never);
  await expect.poll(() => one.models.length).toBe(1);
  expect(fakeUpstream.requests).toHaveLength(1);
});

it('a closed reader sends no requests', async () => {
  const fakeUpstream = await bench.fakeUpstream(listOf('m'));
  const { listReader, read } = reader();
  listReader.close();
  listReader.readInBackground(upstream('one', fakeUpstream.url));
  await listReader.readAll([upstream('two', fakeUpstream.url)], neverAborted);
  expect([fakeUpstream.requests, read]).toEqual([[], []]);
});
