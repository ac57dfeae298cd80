import { afterEach, expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { HardwareView } from '../contract/hardware.ts';
import type { PullRecord } from '../contract/pulls.ts';
import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import { slotRecord } from '../contract/testing/slot-record.ts';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import type { SlotEvent, SlotEventListener } from '../slots/lifecycle/slot-events.ts';
import { createMetrics, type Metrics, type MetricsDeps } from './metrics.ts';
import { MAX_TARGETS } from './series/target-metrics.ts';

let open: Metrics | undefined;
afterEach(() => open?.close());

const slot = (state: SlotStateName): SlotRecord =>
  slotRecord({ name: 'agent', model: 'secret-model-name', state, active: 1, queued: 2 });

function setUp(more: Partial<MetricsDeps> = {}) {
  const bus = new EventBus<GatewayEvents>();
  const listeners: SlotEventListener[] = [];
  const current = { slots: [slot('serving')] };
  open = createMetrics({
    version: '1.2.3',
    slots: {
      list: () => current.slots,
      onEvent: (listener) => {
        listeners.push(listener);
        return () => {};
      },
    },
    bus,
    ...more,
  });
  const emit = (kind: SlotEvent['kind'], name = 'agent') => {
    for (const listener of listeners) listener({ slot: name, model: 'm', kind, startedAt: 1_000, at: 4_000 });
  };
  return { bus, metrics: open, current, emit };
}

/** Returns the lines of one metric. */
const lines = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name));

const finished = {
  route: '/v1/chat/completions',
  slot: 'agent',
  upstream: null,
  status: 200,
  inBandCode: null,
  durationS: 0.3,
  firstByteS: 0.02,
  waitS: 0.004,
  promptTokens: 7,
  completionTokens: 11,
  tokensPerSecond: 50,
};

test('counts requests, tokens and times by route template and slot', async () => {
  const { metrics } = setUp();
  metrics.finished(finished);
  metrics.finished({
    ...finished,
    status: 404,
    slot: null,
    firstByteS: null,
    waitS: null,
    promptTokens: null,
    completionTokens: null,
    tokensPerSecond: null,
  });
  metrics.finished({ ...finished, slot: null, upstream: 'agent' });
  const text = await metrics.render();
  expect(lines(text, 'svc_requests_total{').sort()).toEqual([
    'svc_requests_total{route="/v1/chat/completions",status="404"} 1',
    'svc_requests_total{slot="agent",route="/v1/chat/completions",status="200"} 1',
  ]);
  expect(text).toContain('svc_tokens_total{slot="agent",direction="in"} 7');
  expect(text).toContain('svc_tokens_total{slot="agent",direction="out"} 11');
  expect(text).toContain(
    'svc_time_to_first_token_seconds_count{slot="agent",route="/v1/chat/completions"} 1',
  );
  expect(text).toContain('svc_tokens_per_second_sum{slot="agent"} 50');
  expect(text).toContain('svc_queue_wait_seconds_sum{slot="agent"} 0.004');
});

test('reads slots at each scrape and never names their model', async () => {
  const { metrics } = setUp();
  const text = await metrics.render();
  expect(text).toContain('svc_queue_length{slot="agent"} 2');
  expect(text).toContain('svc_slot_state{slot="agent",state="serving"} 1');
  expect(text).toContain('svc_slot_state{slot="agent",state="ready"} 0');
  expect(text).not.toContain('secret-model-name');
  expect(text).toMatch(/process_resident_memory_bytes \d{6,}/);
});

test('an engine that slots share is reported once, for the slot that loaded it', async () => {
  const { metrics, current } = setUp();
  const used = { active: 1, queued: 2, memory_bytes: 7, pid: 9 };
  const shared = (name: string, of: string | null) => ({
    ...slotRecord({ name, ...used }),
    shared_engine: { slot: of, with: ['other'], used_by: [] },
  });
  current.slots = [shared('host', 'host'), shared('guest', 'host'), shared('idle', null)];
  const text = await metrics.render();
  for (const name of [
    'svc_queue_length',
    'svc_active_requests',
    'svc_slot_parallel',
    'svc_slot_memory_bytes',
  ])
    expect(lines(text, `${name}{`).map((line) => /"(\w+)"/.exec(line)?.[1])).toEqual(['host', 'idle']);
  for (const name of ['host', 'guest', 'idle']) {
    expect(text).toContain(`svc_slot_state{slot="${name}",state="ready"} 1`);
    expect(text).toContain(`svc_slot_degraded{slot="${name}"} 0`);
  }
});

test('a slot that begins to share an engine is neither a load nor an eviction', async () => {
  const { metrics, emit } = setUp();
  emit('joined');
  const text = await metrics.render();
  expect(lines(text, 'svc_slot_loads_total{').filter((line) => !line.endsWith(' 0'))).toEqual([]);
  expect(lines(text, 'svc_slot_evictions_total{').filter((line) => !line.endsWith(' 0'))).toEqual([]);
  emit('evicted');
  expect(await metrics.render()).toContain('svc_slot_evictions_total{slot="agent"} 1');
});

test('refusals are counted by code, limiter trips separately', async () => {
  const { metrics } = setUp();
  metrics.refused('auth.required');
  metrics.refused('auth.rate_limited');
  metrics.refused('dispatch.no_route');
  const text = await metrics.render();
  expect(text).toContain('svc_auth_refusals_total{code="auth.required"} 1');
  expect(text).not.toContain('svc_auth_refusals_total{code="auth.rate_limited"}');
  expect(text).toContain('svc_limiter_trips_total 1');
  expect(text).toContain('svc_errors_total{code="dispatch.no_route"} 1');
});

test('in-band failures are counted by catalogue code, except refusals by an upstream', async () => {
  const { metrics } = setUp();
  for (const code of ['slot.failed', 'rate_limit_exceeded', 'auth.rate_limited', null])
    metrics.finished({ ...finished, inBandCode: code });
  const text = await metrics.render();
  expect(text).toContain('svc_errors_total{code="slot.failed"} 1');
  expect(text).toContain('svc_errors_total{code="upstream.error"} 2');
  expect(text).toContain('svc_limiter_trips_total 0');
  expect(text).not.toContain('rate_limit_exceeded');
});

test('loads, crashes and evictions are counted as they happen, from 0', async () => {
  const { metrics, emit } = setUp();
  const before = await metrics.render();
  expect(before).toContain('svc_slot_loads_total{slot="agent",outcome="error"} 0');
  expect(before).toContain('svc_slot_evictions_total{slot="agent"} 0');
  for (const kind of ['loaded', 'loaded', 'load_failed', 'crashed', 'evicted'] as const) emit(kind);
  const text = await metrics.render();
  expect(text).toContain('svc_slot_loads_total{slot="agent",outcome="ready"} 2');
  expect(text).toContain('svc_slot_loads_total{slot="agent",outcome="error"} 1');
  expect(text).toContain('svc_slot_load_seconds_sum{slot="agent"} 6');
  expect(text).toContain('svc_slot_crashes_total{slot="agent"} 1');
  expect(text).toContain('svc_slot_evictions_total{slot="agent"} 1');
});

test('series are removed with their target, and excess names share one series', async () => {
  const upstreams: UpstreamRecord[] = [];
  const { metrics, current, emit } = setUp({ upstreams: { views: () => upstreams } });
  const far = { ...finished, slot: null, upstream: 'desk' };
  metrics.finished(finished);
  metrics.finished(far);
  emit('loaded');
  upstreams.push({ name: 'desk', enabled: true, health: 'ok', models: 3 } as UpstreamRecord);
  const full = await metrics.render();
  expect(full).toContain('svc_requests_total{upstream="desk",route="/v1/chat/completions",status="200"} 1');
  expect(full).toContain('svc_upstream_health{upstream="desk",health="ok"} 1');
  current.slots = [];
  upstreams.splice(0);
  expect(await metrics.render()).not.toMatch(/"agent"|"desk"/);
  for (let i = 0; i < 3 * MAX_TARGETS; i++) {
    metrics.finished({ ...finished, slot: `s${i}` });
    metrics.finished({ ...far, upstream: `u${i}` });
  }
  current.slots = Array.from({ length: 3 * MAX_TARGETS }, (_, i) => ({ ...slot('ready'), name: `s${i}` }));
  const crowd = lines(await metrics.render(), 'svc_requests_total{');
  expect(crowd.filter((line) => line.includes('slot='))).toHaveLength(MAX_TARGETS + 1);
  expect(crowd).toContain(
    `svc_requests_total{slot="(others)",route="/v1/chat/completions",status="200"} ${2 * MAX_TARGETS}`,
  );
});

const HARDWARE = {
  host: { memory_total_bytes: 100, memory_available_bytes: 40 },
  devices: [
    { kind: 'cpu', id: 'cpu' },
    { kind: 'gpu', id: '0000:01:00.0', memory_total_bytes: 24, memory_used_bytes: 6, busy_percent: 50 },
    {
      kind: 'gpu',
      id: '0000:02:00.0',
      memory_total_bytes: null,
      memory_used_bytes: null,
      busy_percent: null,
    },
    { kind: 'npu', id: '0000:03:00.0', memory_total_bytes: 8, memory_used_bytes: null, busy_percent: null },
  ].map((device) => ({ power_w: null, temperature_c: null, ...device })),
} as unknown as HardwareView;

test('device memory is labelled by number, never by address', async () => {
  const hardware = { last: () => HARDWARE, view: () => HARDWARE };
  const text = await setUp({ hardware }).metrics.render();
  expect(lines(text, 'svc_device_')).toEqual([
    'svc_device_memory_bytes{device="host",kind="total"} 100',
    'svc_device_memory_bytes{device="host",kind="used"} 60',
    'svc_device_memory_bytes{device="gpu0",kind="total"} 24',
    'svc_device_memory_bytes{device="gpu0",kind="used"} 6',
    'svc_device_memory_bytes{device="npu0",kind="total"} 8',
    'svc_device_busy_ratio{device="gpu0"} 0.5',
  ]);
  expect(text).not.toContain('0000:');
});

test('a scrape reads live GPU figures only while a slot keeps the GPU awake', async () => {
  const reads: string[] = [];
  const readAs = (how: string) => () => {
    reads.push(how);
    return HARDWARE;
  };
  const hardware = { last: readAs('last'), view: readAs('view') };
  const { metrics, current } = setUp({ hardware });
  await metrics.render();
  current.slots = [{ ...slot('ready'), device: 'cuda' }];
  await metrics.render();
  expect(reads).toEqual(['last', 'view']);
});

test('download bytes grow by received bytes, and no label names a model', async () => {
  const { bus, metrics } = setUp({ pulls: { list: () => [{ state: 'running' } as PullRecord] } });
  const emitPull = (id: string, state: PullRecord['state'], bytes: number) =>
    bus.emit('pull', { pull: { id, state, bytes, repo: 'owner/secret-repo' } as PullRecord });
  emitPull('a', 'queued', 0);
  emitPull('a', 'running', 1_000);
  emitPull('b', 'running', 5_000);
  emitPull('a', 'running', 400);
  emitPull('a', 'running', 900);
  emitPull('b', 'failed', 5_500);
  emitPull('a', 'done', 1_200);
  emitPull('a', 'done', 1_200);
  const text = await metrics.render();
  expect(text).toContain('svc_pull_bytes_total 2300');
  expect(text).toContain('svc_pulls_total{outcome="done"} 1');
  expect(text).toContain('svc_pulls_total{outcome="failed"} 1');
  expect(text).toContain('svc_pulls_open{state="running"} 1');
  expect(text).not.toContain('secret-repo');
});

test('lists every metric that a scrape shows, with its kind', async () => {
  const { metrics } = setUp();
  metrics.finished(finished);
  const types = [...(await metrics.render()).matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, kind]) => [
    name,
    kind,
  ]);
  const listed = metrics.rows.map(({ name, kind }) => [name, kind]);
  expect(types.length).toBeGreaterThan(20);
  for (const type of types) expect(listed).toContainEqual(type);
});
