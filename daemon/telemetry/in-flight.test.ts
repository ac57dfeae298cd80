import { expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { RequestRecord } from '../contract/system.ts';
import { Bus } from '../kit/bus.ts';
import { createRequestWatch } from './in-flight.ts';
import type { FinishedRequest } from './metrics.ts';

function setUp() {
  const log: RequestRecord[] = [];
  const finished: FinishedRequest[] = [];
  const events: GatewayEvents['request'][] = [];
  const bus = new Bus<GatewayEvents>();
  bus.subscribe(({ payload }) => void events.push(payload as GatewayEvents['request']));
  const watch = createRequestWatch({
    requests: { add: (record) => void log.push(record) },
    bus,
    metrics: { finished: (request) => void finished.push(request) },
  });
  return { watch, log, finished, events };
}
const start = (id: string, cancel = () => {}) => ({
  id,
  route: '/v1/chat/completions',
  tier: 'client',
  receivedAt: performance.now() - 20,
  cancel,
});
const routing = { slot: 'agent', upstream: null, step: 'loaded-slot', model: 'm' };

test('a request is listed while it runs and logged, counted and announced once when it ends', () => {
  const { watch, log, finished, events } = setUp();
  const track = watch.begin(start('r1'));
  expect(watch.running()).toMatchObject([{ id: 'r1', state: 'running', slot: null, status: null }]);
  track.routed(routing);
  track.leased();
  track.firstByte();
  const usage = { promptTokens: 3, completionTokens: 5, tokensPerSecond: 40 };
  track.end({ status: 200, error: null, usage });
  track.end({ status: 500, error: 'internal', usage: null });
  expect(watch.running()).toEqual([]);
  expect(log).toHaveLength(1);
  expect(log[0]).toMatchObject({
    ...routing,
    id: 'r1',
    state: 'done',
    status: 200,
    prompt_tokens: 3,
    completion_tokens: 5,
    error: null,
  });
  expect(log[0]?.duration_ms).toBeGreaterThanOrEqual(20);
  expect(finished).toMatchObject([
    {
      route: '/v1/chat/completions',
      slot: 'agent',
      upstream: null,
      status: 200,
      waitS: expect.any(Number),
      tokensPerSecond: 40,
    },
  ]);
  expect(events.map(({ state, slot, status }) => [state, slot, status])).toEqual([
    ['started', 'agent', null],
    ['ended', 'agent', 200],
  ]);
});

test('cancel reaches the request that runs and no other', () => {
  const { watch } = setUp();
  const cancelled: string[] = [];
  const track = watch.begin(start('r1', () => cancelled.push('r1')));
  watch.begin(start('r2', () => cancelled.push('r2')));
  expect(watch.cancel('r1')).toBe(true);
  expect(watch.cancel('unknown')).toBe(false);
  expect(cancelled).toEqual(['r1']);
  track.end({ status: 503, error: 'request.cancelled', usage: null });
  expect(watch.cancel('r1')).toBe(false);
});
