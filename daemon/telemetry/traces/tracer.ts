import type { Log } from '../../lib/log.ts';
import type { Outbound } from '../../lib/net/outbound.ts';
import type { Settings } from '../../settings/settings.ts';
import { type Clock, systemClock } from '../../slots/lifecycle/clock.ts';
import type { SlotEvent, SlotEventListener } from '../../slots/lifecycle/slot-events.ts';
import type { SpanCounts } from '../series/span-series.ts';
import { type Collector, collectorOf } from './collector.ts';
import { deliverSpans } from './deliver.ts';
import { type LoadTime, type RequestContext, requestSpans, type TracedRequest } from './request-spans.ts';
import { SpanQueue } from './span-queue.ts';
import { newSpanId, newTraceId, parseTraceparent } from './trace-context.ts';

/**
 * OTLP traces of inference requests (docs/spec/contract.md#traces). Without a collector nothing is recorded
 * and nothing is sent.
 */
export interface Tracer {
  /**
   * Returns the trace context of a new request; null while tracing is off. Uses the caller's `traceparent` as
   * its parent.
   */
  begin(traceparent: string | string[] | undefined): RequestContext | null;
  /** Queues the spans of a finished request, unless its caller does not sample. Never throws, never waits. */
  finished(request: TracedRequest, context: RequestContext): void;
  counts(): SpanCounts;
  /** Flushes the queue within two seconds. */
  stop(): Promise<void>;
}

export interface TracerDeps {
  readonly settings: Pick<Settings, 'value'>;
  readonly outbound: Pick<Outbound, 'dispatch'>;
  readonly slots: { onEvent(listener: SlotEventListener): () => void };
  readonly log: Log;
  readonly version: string;
  readonly clock?: Clock;
}

/** Maximum number of slots whose last load is stored. */
const MAX_LOADS = 128;

/** The last load of the engine of each slot, failed loads included. */
class LastLoads {
  readonly #times = new Map<string, LoadTime>();

  onSlotEvent({ slot, kind, startedAt, at }: SlotEvent): void {
    if (kind !== 'loaded' && kind !== 'load_failed' && kind !== 'joined') return;
    this.#times.delete(slot);
    this.#times.set(slot, { from: startedAt, to: at });
    const [oldest] = this.#times.keys();
    if (this.#times.size > MAX_LOADS && oldest !== undefined) this.#times.delete(oldest);
  }

  of(slot: string | null): LoadTime | null {
    return (slot === null ? undefined : this.#times.get(slot)) ?? null;
  }
}

export function createTracer(options: TracerDeps): Tracer {
  const { settings, outbound, slots, log, version, clock = systemClock } = options;
  const collector = (): Collector | null =>
    collectorOf(settings.value('otlpEndpoint'), settings.value('otlpHeaders'));
  const loads = new LastLoads();
  const unsubscribe = slots.onEvent((work) => loads.onSlotEvent(work));
  const queue = new SpanQueue({
    clock,
    async deliver(spans, limitMs) {
      const to = collector();
      if (to === null) return { kind: 'refused', reason: 'no collector is configured any more' };
      const resource = { serviceName: settings.value('otlpServiceName'), version };
      return deliverSpans(outbound, to, resource, spans, limitMs);
    },
    onStateChange: (reason) =>
      reason === null
        ? log.info('traces are sent to the collector again')
        : log.warn({ reason }, 'traces cannot be sent to the collector'),
  });
  return {
    begin(traceparent) {
      if (settings.value('otlpEndpoint') === '') return null;
      const parent = parseTraceparent(traceparent);
      return {
        own: {
          traceId: parent?.traceId ?? newTraceId(),
          spanId: newSpanId(),
          sampled: parent?.sampled ?? true,
        },
        parentSpanId: parent?.spanId ?? '',
        callSpanId: newSpanId(),
      };
    },
    finished(request, context) {
      if (context.own.sampled) queue.add(requestSpans(request, context, loads.of(request.slot)));
    },
    counts: () => queue.counts(),
    stop: () => {
      unsubscribe();
      return queue.stop();
    },
  };
}
