import { expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { RequestRecord, RequestTraceView } from '../contract/system.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import type { FinishedRequest } from './metrics.ts';
import { createRequestTracker } from './request-tracker.ts';

function setUp() {
  const log: RequestRecord[] = [];
  const traces: RequestTraceView[] = [];
  const finished: FinishedRequest[] = [];
  const events: GatewayEvents['request'][] = [];
  const bus = new EventBus<GatewayEvents>();
  bus.subscribe(({ payload }) => void events.push(payload as GatewayEvents['request']));
  const watch = createRequestTracker({
    requests: {
      add(record, story) {
        log.push(record);
        traces.push(story);
      },
    },
    bus,
    metrics: { finished: (request) => void finished.push(request) },
    redact: (text) => text.replaceAll('swordfish', '[hidden]'),
  });
  return { watch, log, traces, finished, events };
}
const start = (id: string, cancel = () => {}) => ({
  id,
  route: '/v1/chat/completions',
  tier: 'client',
  receivedAt: performance.now() - 20,
  cancel,
});
const routing = { slot: 'agent', upstream: null, step: 'loaded-slot', model: 'm' };

test('a request is listed while it runs, and logged, counted and emitted once at its end', () => {
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

test('cancel aborts only the running request with that id', () => {
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

test('the trace is rendered at the end, or on request', () => {
  const { watch, log, traces } = setUp();
  let renderCount = 0;
  const track = watch.begin(start('r1'));
  track.requestedModel('svc/agent');
  track.resolved({
    rule: 'virtual-name',
    lane: 'agent',
    steps: () => {
      renderCount++;
      return [{ step: 'registry', outcome: 'matched', reason: 'r'.repeat(999) }];
    },
  });
  track.routed(routing);
  expect(watch.find('r1')).toMatchObject({ state: 'running', asked: 'svc/agent', story: { waits: null } });
  track.failedOver('slot.no_memory');
  track.routed({ ...routing, slot: 'utility' });
  const waits = { memory_ms: 0, load_ms: 700, queue_ms: 20 };
  track.prepared({ waits, overheadMs: 1.234, degraded: null });
  expect(renderCount).toBe(1);
  track.end({ status: 200, error: null, usage: null });
  expect(renderCount).toBe(2);
  expect(watch.find('r1')).toBeNull();
  expect(log[0]).toMatchObject({ asked: 'svc/agent', slot: 'utility' });
  const story = traces[0];
  expect(story).toMatchObject({
    rule: 'virtual-name',
    lane: 'agent',
    before: [{ slot: 'agent', upstream: null, error: 'slot.no_memory' }],
    waits,
    overhead_ms: 1.2,
    degraded: null,
  });
  expect(story?.steps[0]?.reason).toHaveLength(256);
});

test('stores only the beginning of the requested name, without secrets', () => {
  const { watch, log } = setUp();
  const name = `swordfish${'m'.repeat(1_015)}`;
  const track = watch.begin(start('r1'));
  track.requestedModel(`${name}${'x'.repeat(1_000_000)}`);
  const expectedName = `${name.replace('swordfish', '[hidden]')}…`;
  expect(watch.running()[0]?.asked).toBe(expectedName);
  track.end({ status: 404, error: 'dispatch.no_route', usage: null });
  expect(log[0]?.asked).toBe(expectedName);
});

test('the code of a failure is truncated and contains no secret', () => {
  const { watch, log, finished } = setUp();
  watch
    .begin(start('r1'))
    .end({ status: 429, error: `swordfish${'x'.repeat(99)}`, reportedInBand: true, usage: null });
  expect(log[0]?.error).toBe(`[hidden]${'x'.repeat(56)}`);
  expect(finished[0]?.inBandCode).toBe(log[0]?.error);
});

test('a trace is bounded, and a repeated target is listed once', () => {
  const { watch, traces } = setUp();
  const track = watch.begin(start('r1'));
  track.routed(routing);
  track.routed(routing);
  track.end({ status: 200, error: null, usage: null });
  expect(traces[0]?.before).toEqual([]);
  const long = watch.begin(start('r2'));
  for (let i = 0; i < 100; i++) {
    long.failedOver('dispatch.upstream_unavailable');
    long.routed({ ...routing, slot: null, upstream: `u${i}` });
  }
  long.end({ status: 502, error: 'dispatch.upstream_unavailable', usage: null });
  expect(traces[1]?.before).toHaveLength(16);
});

test('the first part of a multi-round call ends with the call and its outcome', async () => {
  const { watch, log, finished } = setUp();
  const usage = { promptTokens: 3, completionTokens: 5, tokensPerSecond: 40 };
  let cancelled = 0;
  for (const end of [null, { status: 200, error: 'request.cancelled', reportedInBand: true }]) {
    const { promise, resolve } = Promise.withResolvers<typeof end>();
    const track = watch.begin({ ...start('r1', () => void cancelled++), parentOutcome: promise });
    track.routed(routing);
    track.end({ status: 200, error: null, reportedInBand: true, usage });
    track.end({ status: 500, error: 'internal', usage: null });
    await Promise.resolve();
    expect(watch.running()).toMatchObject([{ id: 'r1', state: 'running', status: null }]);
    expect(watch.cancel('r1')).toBe(true);
    resolve(end);
    await promise;
    expect(watch.running()).toEqual([]);
  }
  expect(cancelled).toBe(2);
  expect(log).toMatchObject([
    { state: 'done', status: 200, error: null, completion_tokens: 5 },
    { state: 'done', status: 200, error: 'request.cancelled', completion_tokens: 5 },
  ]);
  expect(finished).toMatchObject([{ inBandCode: null }, { inBandCode: 'request.cancelled' }]);
});

test('the record has the message that was sent, and what the caller says about itself, without secrets', () => {
  const { watch, log } = setUp();
  const caller = { app: 'swordfish', user_agent: 'curl/8 swordfish', address: 'private' as const };
  const track = watch.begin({ ...start('r1'), caller });
  expect(watch.running()).toMatchObject([{ app: '[hidden]', address: 'private', message: null }]);
  const failure = { message: `no swordfish ${'x'.repeat(2000)}`, reason: 'the engine ended' };
  track.end({ status: 503, error: 'slot.failed', failure, usage: null });
  expect(log[0]).toMatchObject({
    error: 'slot.failed',
    message: expect.stringMatching(/^no \[hidden\] x+…$/),
    reason: 'the engine ended',
    app: '[hidden]',
    user_agent: 'curl/8 [hidden]',
    address: 'private',
  });
  expect(log[0]?.message?.length).toBeLessThan(600);
});

test('a caller that is not known, and a success, have no texts', () => {
  const { watch, log } = setUp();
  watch.begin(start('r1')).end({ status: 200, error: null, usage: null });
  const none = { message: null, reason: null, app: null, user_agent: null, address: null };
  expect(log[0]).toMatchObject(none);
});
