import Registry from 'prom-client/lib/registry.js';
import type { ErrorCode } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { HardwareView } from '../contract/hardware.ts';
import type { PullRecord } from '../contract/pulls.ts';
import type { SlotRecord } from '../contract/slots.ts';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { SlotEventListener } from '../slots/lifecycle/slot-events.ts';
import { deviceGauges } from './series/device-gauges.ts';
import { instruments } from './series/instruments.ts';
import { MetricFactory, type MetricRow } from './series/metric-factory.ts';
import { processGauges } from './series/process-gauges.ts';
import { pullSeries } from './series/pull-series.ts';
import { inBandErrorCode, refusalSeries } from './series/refusals.ts';
import { slotGauges } from './series/slot-gauges.ts';
import { type SpanCounts, spanSeries } from './series/span-series.ts';
import { TargetMetrics } from './series/target-metrics.ts';
import type { FinishedRequest } from './series/target-series.ts';
import { upstreamGauges } from './series/upstream-gauges.ts';

export type { FinishedRequest } from './series/target-series.ts';

/** Prometheus metrics (docs/spec/contract.md#metrics). No label holds an address, a key or free text. */
export interface Metrics {
  readonly contentType: string;
  /** The existing metrics, for the documentation. */
  readonly rows: readonly MetricRow[];
  /** Returns the text of `GET /api/metrics/prometheus`. Wakes no device. */
  render(): Promise<string>;
  /** Counts one refusal or failure that a caller received. */
  refused(code: ErrorCode): void;
  finished(request: FinishedRequest): void;
  close(): void;
}

/** The sources that are read at each scrape. */
export interface MetricsDeps {
  readonly version: string;
  readonly slots: { list(): SlotRecord[]; onEvent(listener: SlotEventListener): () => void };
  readonly upstreams?: { views(): UpstreamRecord[] };
  /** `last` starts nothing; `view` may refresh live figures, which keeps a card awake. */
  readonly hardware?: { last(): HardwareView | null; view(): HardwareView | null };
  readonly pulls?: { list(): readonly PullRecord[] };
  readonly store?: { health(): { status: string } };
  readonly spans?: { counts(): SpanCounts };
  readonly bus: Pick<EventBus<GatewayEvents>, 'subscribe'>;
}

export function createMetrics(options: MetricsDeps): Metrics {
  const { slots, upstreams, hardware, pulls, store, spans, bus } = options;
  const registry = new Registry();
  const make = new MetricFactory(registry);
  const targets = new TargetMetrics(instruments(make));
  const refused = refusalSeries(make);
  /** The state at the current scrape: each source is read once for all of its gauges. */
  const snapshot: { slots: SlotRecord[]; upstreams: UpstreamRecord[]; hardware: HardwareView | null } = {
    slots: [],
    upstreams: [],
    hardware: null,
  };
  const refreshSnapshot = () => {
    snapshot.slots = slots.list();
    snapshot.upstreams = upstreams?.views() ?? [];
    const awake = snapshot.slots.some(({ device }) => device !== null && device !== 'cpu');
    snapshot.hardware = (awake ? hardware?.view() : hardware?.last()) ?? null;
    targets.retain(names(snapshot.slots), names(snapshot.upstreams));
  };
  slotGauges(make, () => snapshot.slots);
  upstreamGauges(make, () => snapshot.upstreams);
  deviceGauges(make, () => snapshot.hardware);
  if (spans) spanSeries(make, () => spans.counts());
  if (store)
    make.gauge('svc_store_ok', '1 while the database is usable.', [], (gauge) =>
      gauge.set(Number(store.health().status !== 'failed')),
    );
  const ends = [
    slots.onEvent((work) => targets.onSlotEvent(work)),
    pullSeries(make, bus, () => pulls?.list() ?? []),
    processGauges(make, options.version),
  ];
  return {
    contentType: registry.contentType,
    rows: make.rows,
    render: () => {
      refreshSnapshot();
      return registry.metrics();
    },
    refused,
    finished(request) {
      targets.finished(request);
      if (request.inBandCode !== null) refused(inBandErrorCode(request.inBandCode));
    },
    close() {
      for (const end of ends) end();
    },
  };
}

const names = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
