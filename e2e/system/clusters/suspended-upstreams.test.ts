/** 1,000 requests over two upstreams, real processes, while each is suspended in turn. A smaller run is part of `npm test`. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Front } from '../../../daemon/test/harness/front-gateway.ts';
import {
  loadWhileSuspended,
  MAX_P99_WAIT_MS,
  MAX_WAIT_MS,
  p99WaitOf,
  receivedTwice,
} from '../../../daemon/test/harness/suspended-load.ts';
import { UpstreamProcess } from '../../../daemon/test/harness/upstream-process.ts';

const REQUESTS = 1_000;
const front = new Front();
let upstreams: Record<string, UpstreamProcess> = {};

beforeAll(async () => {
  await front.start();
  const [desk, den] = await Promise.all([
    UpstreamProcess.start(['shared']),
    UpstreamProcess.start(['shared']),
  ]);
  upstreams = { desk, den };
  for (const [name, { url }] of Object.entries(upstreams)) await front.add(name, `base_url = "${url}"\n`);
});
afterAll(async () => {
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.kill()));
  await front.close();
});

it('every request gets exactly one answer, and no upstream gets one twice', async () => {
  const outcomes = await loadWhileSuspended({
    front,
    upstreams,
    model: 'shared',
    requests: REQUESTS,
    concurrency: 16,
    pauseMs: 1_000,
  });
  expect(new Set(outcomes.map(({ user }) => user)).size).toBe(REQUESTS);
  for (const { user, status, text } of outcomes) {
    expect([user, status]).toEqual([user, 200]);
    expect(text).toContain(`served ${user}"`);
  }
  const [p99, longest] = [p99WaitOf(outcomes), Math.max(...outcomes.map(({ ms }) => ms))];
  console.info(`waits: p99 ${(p99 / 1000).toFixed(1)} s, longest ${(longest / 1000).toFixed(1)} s`);
  expect(p99).toBeLessThan(MAX_P99_WAIT_MS);
  expect(longest).toBeLessThan(MAX_WAIT_MS);
  for (const upstream of Object.values(upstreams)) expect(receivedTwice(upstream)).toEqual([]);
}, 300_000);
