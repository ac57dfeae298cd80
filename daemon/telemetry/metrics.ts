import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ErrorCode } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { SLOT_STATES, type SlotRecord, type SlotStateName } from '../contract/slots.ts';
import { type UpstreamRecord, USABLE_HEALTH } from '../contract/upstreams.ts';
import type { Bus } from '../kit/bus.ts';

/** What the metrics count of one finished inference request. Every field is from a bounded set or a number. */
export interface FinishedRequest {
  /** Route template. */
  readonly route: string;
  /** Name of the slot or upstream; null when nobody was chosen. */
  readonly target: string | null;
  readonly status: number;
  readonly durationS: number;
  readonly firstByteS: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly tokensPerSecond: number | null;
}

/** Prometheus metrics (contract section 10). No label holds an address, a key or free text. */
export interface Metrics {
  readonly contentType: string;
  /** The text of `GET /api/metrics/prometheus`. Wakes nothing. */
  render(): Promise<string>;
  /** Counts one refusal or failure that a caller was told. */
  refused(code: ErrorCode): void;
  finished(request: FinishedRequest): void;
  close(): void;
}

export interface MetricsOptions {
  readonly slots: { list(): SlotRecord[] };
  readonly upstreams?: { views(): UpstreamRecord[] };
  readonly bus: Pick<Bus<GatewayEvents>, 'subscribe'>;
}

/** Label of requests that reached nobody. */
const NOBODY = 'none';
const DURATIONS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const SPEEDS = [1, 2, 5, 10, 20, 40, 80, 160, 320];

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const requests = requestMetrics(registry);
  const refusals = refusalMetrics(registry);
  slotGauges(registry, options.slots);
  if (options.upstreams) upstreamGauges(registry, options.upstreams);
  const stopLoads = loadMetrics(registry, options.bus);
  const stopProcess = processMetrics(registry);
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    refused: refusals,
    finished: requests,
    close() {
      stopLoads();
      stopProcess();
    },
  };
}

function requestMetrics(registry: Registry): Metrics['finished'] {
  const registers = [registry];
  const make = <T extends string>(name: string, help: string, labelNames: T[]) => ({
    name,
    help,
    labelNames,
    registers,
  });
  const total = new Counter(
    make('svc_requests_total', 'Inference requests by route, slot or upstream, and status.', [
      'route',
      'slot',
      'status',
    ]),
  );
  const duration = new Histogram({
    ...make('svc_request_duration_seconds', 'From arrival to the last byte.', ['route', 'slot']),
    buckets: DURATIONS_S,
  });
  const first = new Histogram({
    ...make('svc_time_to_first_byte_seconds', 'From arrival to the first byte of the answer.', [
      'route',
      'slot',
    ]),
    buckets: DURATIONS_S,
  });
  const tokens = new Counter(make('svc_tokens_total', 'Tokens read and written.', ['slot', 'direction']));
  const speed = new Histogram({
    ...make('svc_tokens_per_second', 'Speed of single answers.', ['slot']),
    buckets: SPEEDS,
  });
  return ({ route, target, status, ...request }) => {
    const slot = target ?? NOBODY;
    total.inc({ route, slot, status: String(status) });
    duration.observe({ route, slot }, request.durationS);
    if (request.firstByteS !== null) first.observe({ route, slot }, request.firstByteS);
    if (request.promptTokens !== null) tokens.inc({ slot, direction: 'in' }, request.promptTokens);
    if (request.completionTokens !== null) tokens.inc({ slot, direction: 'out' }, request.completionTokens);
    if (request.tokensPerSecond !== null) speed.observe({ slot }, request.tokensPerSecond);
  };
}

function refusalMetrics(registry: Registry): Metrics['refused'] {
  const registers = [registry];
  const errors = new Counter({
    name: 'svc_errors_total',
    help: 'Refusals and failures that callers were told, by code.',
    labelNames: ['code'],
    registers,
  });
  const auth = new Counter({
    name: 'svc_auth_refusals_total',
    help: 'Requests that authentication refused, by code.',
    labelNames: ['code'],
    registers,
  });
  const limiter = new Counter({
    name: 'svc_limiter_trips_total',
    help: 'Trips of the login limiter.',
    registers,
  });
  return (code) => {
    errors.inc({ code });
    if (code === 'auth.rate_limited') limiter.inc();
    else if (code.startsWith('auth.')) auth.inc({ code });
  };
}

/** Gauges that are read from the slots at each scrape. */
function slotGauges(registry: Registry, slots: MetricsOptions['slots']): void {
  const gauge = (name: string, help: string, value: (slot: SlotRecord) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['slot'],
      registers: [registry],
      collect() {
        this.reset();
        for (const slot of slots.list()) {
          const now = value(slot);
          if (now !== null) this.set({ slot: slot.name }, now);
        }
      },
    });
  gauge('svc_queue_length', 'Requests that wait for a slot.', (slot) => slot.queued);
  gauge('svc_active_requests', 'Requests that a slot serves now.', (slot) => slot.active);
  gauge('svc_slot_memory_bytes', 'Resident memory of the engine of a slot.', (slot) => slot.memory_bytes);
  gauge('svc_slot_degraded', '1 while a slot runs degraded.', (slot) => Number(slot.degraded !== null));
  new Gauge({
    name: 'svc_slot_state',
    help: '1 for the state that a slot is in.',
    labelNames: ['slot', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const slot of slots.list()) {
        for (const state of SLOT_STATES) this.set({ slot: slot.name, state }, Number(slot.state === state));
      }
    },
  });
}

/** Gauges that are read from the upstreams at each scrape; nobody is asked anything. */
function upstreamGauges(registry: Registry, upstreams: NonNullable<MetricsOptions['upstreams']>): void {
  const gauge = (name: string, help: string, value: (upstream: UpstreamRecord) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['upstream'],
      registers: [registry],
      collect() {
        this.reset();
        for (const each of upstreams.views())
          if (each.enabled) this.set({ upstream: each.name }, value(each));
      },
    });
  gauge('svc_upstream_models', 'Models that an upstream is known to serve.', ({ models }) => models);
  gauge('svc_upstream_up', '1 while calls to an upstream are not expected to fail.', ({ health }) =>
    Number(USABLE_HEALTH.has(health)),
  );
}

/** Loads by outcome, told by the slots' own events: a start that became ready, or one that ended in ERROR. */
function loadMetrics(registry: Registry, bus: MetricsOptions['bus']): () => void {
  const loads = new Counter({
    name: 'svc_slot_loads_total',
    help: 'Loads of slots by outcome.',
    labelNames: ['slot', 'outcome'],
    registers: [registry],
  });
  const last = new Map<string, SlotStateName>();
  return bus.subscribe(({ name, payload }) => {
    if (name !== 'slot') return;
    const { slot } = payload as GatewayEvents['slot'];
    const before = last.get(slot.name);
    last.set(slot.name, slot.state);
    if (before !== 'starting' && before !== 'warming') return;
    if (slot.state === 'ready' || slot.state === 'serving') loads.inc({ slot: slot.name, outcome: 'ready' });
    if (slot.state === 'error') loads.inc({ slot: slot.name, outcome: 'error' });
  });
}

function processMetrics(registry: Registry): () => void {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the gateway itself.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start of the gateway, Unix seconds.',
    registers,
  }).set(Math.round(Date.now() / 1000 - process.uptime()));
  new Gauge({
    name: 'svc_event_loop_delay_p99_seconds',
    help: 'Delay of the event loop since the last scrape, 99th percentile.',
    registers,
    collect() {
      this.set(delay.percentile(99) / 1e9);
      delay.reset();
    },
  });
  return () => void delay.disable();
}
