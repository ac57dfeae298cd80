import { afterEach, expect, test } from 'vitest';
import type { GatewayEvents } from '../contract/events.ts';
import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import { Bus } from '../kit/bus.ts';
import { createMetrics, type Metrics } from './metrics.ts';

let open: Metrics | undefined;
afterEach(() => open?.close());

const slot = (state: SlotStateName): SlotRecord => ({
  name: 'agent',
  enabled: true,
  auto: false,
  type: 'llm',
  engine: 'embedded',
  runner: 'worker',
  model: 'secret-model-name',
  demo: false,
  state,
  since: 0,
  device: 'cpu',
  degraded: null,
  context: null,
  parallel: 1,
  threads: null,
  pid: null,
  active: 1,
  queued: 2,
  requests: 0,
  tokens_per_second: null,
  memory_bytes: null,
  pinned: false,
  waiting_for: [],
  memory: null,
  failure: null,
});

function setUp() {
  const bus = new Bus<GatewayEvents>();
  open = createMetrics({ slots: { list: () => [slot('serving')] }, bus });
  return { bus, metrics: open };
}

const finished = {
  route: '/v1/chat/completions',
  target: 'agent',
  status: 200,
  durationS: 0.3,
  firstByteS: 0.02,
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
    target: null,
    firstByteS: null,
    promptTokens: null,
    completionTokens: null,
    tokensPerSecond: null,
  });
  const text = await metrics.render();
  expect(text).toContain('svc_requests_total{route="/v1/chat/completions",slot="agent",status="200"} 1');
  expect(text).toContain('svc_requests_total{route="/v1/chat/completions",slot="none",status="404"} 1');
  expect(text).toContain('svc_tokens_total{slot="agent",direction="in"} 7');
  expect(text).toContain('svc_tokens_total{slot="agent",direction="out"} 11');
  expect(text).toContain('svc_time_to_first_byte_seconds_count{route="/v1/chat/completions",slot="agent"} 1');
  expect(text).toContain('svc_tokens_per_second_sum{slot="agent"} 50');
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

test('refusals are counted by code, limiter trips apart from them', async () => {
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

test('a load counts once, when it has an outcome', async () => {
  const { bus, metrics } = setUp();
  for (const state of [
    'starting',
    'warming',
    'warming',
    'ready',
    'serving',
    'ready',
    'starting',
    'error',
  ] as const) {
    bus.emit('slot', { slot: slot(state) });
  }
  const text = await metrics.render();
  expect(text).toContain('svc_slot_loads_total{slot="agent",outcome="ready"} 1');
  expect(text).toContain('svc_slot_loads_total{slot="agent",outcome="error"} 1');
});
