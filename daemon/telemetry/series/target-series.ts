import type { SlotEvent } from '../../slots/lifecycle/slot-events.ts';
import type { Instruments } from './instruments.ts';

/**
 * The values of one finished inference request that the metrics count. Every text except `inBandCode` is from
 * a bounded set.
 */
export interface FinishedRequest {
  /** Route template. */
  readonly route: string;
  /** Name of the slot or upstream; both null when no target was chosen. */
  readonly slot: string | null;
  readonly upstream: string | null;
  readonly status: number;
  /** Code of the failure that the response itself reported; null when none. */
  readonly inBandCode: string | null;
  readonly durationS: number;
  readonly firstByteS: number | null;
  /** Wait for the lease; null without one. */
  readonly waitS: number | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly tokensPerSecond: number | null;
}

/** The label of the serving target; empty for requests without a target. */
export type TargetLabel = { slot?: string; upstream?: string };

interface RouteSeries {
  readonly duration: { observe(value: number): void };
  readonly firstToken: { observe(value: number): void };
  readonly statuses: Map<number, { inc(): void }>;
}

/**
 * All series of one slot or upstream. The children of the metrics are created once, so that a request costs
 * only additions. `drop` removes them when the slot or upstream is removed.
 */
export class TargetSeries {
  readonly #instruments: Instruments;
  readonly #label: TargetLabel;
  readonly #routes = new Map<string, RouteSeries>();
  readonly #tokensIn: { inc(value: number): void };
  readonly #tokensOut: { inc(value: number): void };
  readonly #speed: { observe(value: number): void };
  readonly #wait: { observe(value: number): void } | null = null;

  constructor(instruments: Instruments, label: TargetLabel) {
    this.#instruments = instruments;
    this.#label = label;
    this.#tokensIn = instruments.tokens.labels({ ...label, direction: 'in' });
    this.#tokensOut = instruments.tokens.labels({ ...label, direction: 'out' });
    this.#speed = instruments.speed.labels(label);
    if (label.slot === undefined) return;
    this.#wait = instruments.wait.labels({ slot: label.slot });
    this.#initialiseCounters(label.slot);
  }

  finished(request: FinishedRequest): void {
    const route = this.#routes.get(request.route) ?? this.#openRoute(request.route);
    const counter = route.statuses.get(request.status) ?? this.#openStatus(route, request);
    counter.inc();
    route.duration.observe(request.durationS);
    if (request.firstByteS !== null) route.firstToken.observe(request.firstByteS);
    if (request.promptTokens !== null) this.#tokensIn.inc(request.promptTokens);
    if (request.completionTokens !== null) this.#tokensOut.inc(request.completionTokens);
    if (request.tokensPerSecond !== null) this.#speed.observe(request.tokensPerSecond);
    if (request.waitS !== null) this.#wait?.observe(request.waitS);
  }

  onSlotEvent({ kind, startedAt, at }: SlotEvent): void {
    const { slot } = this.#label;
    if (slot === undefined) return;
    if (kind === 'loaded') {
      this.#instruments.loads.labels({ slot, outcome: 'ready' }).inc();
      this.#instruments.loadTime.labels({ slot }).observe(Math.max(0, at - startedAt) / 1000);
    } else if (kind === 'load_failed') this.#instruments.loads.labels({ slot, outcome: 'error' }).inc();
    else if (kind === 'crashed') this.#instruments.crashes.labels({ slot }).inc();
    else if (kind === 'evicted') this.#instruments.evictions.labels({ slot }).inc();
  }

  drop(): void {
    const { requests, duration, firstToken, tokens, speed, wait, loads, loadTime, crashes, evictions } =
      this.#instruments;
    const label = this.#label;
    for (const [route, { statuses }] of this.#routes) {
      for (const status of statuses.keys()) requests.remove({ ...label, route, status: String(status) });
      for (const metric of [duration, firstToken]) metric.remove({ ...label, route });
    }
    for (const direction of ['in', 'out'] as const) tokens.remove({ ...label, direction });
    speed.remove(label);
    const { slot } = label;
    if (slot === undefined) return;
    for (const outcome of ['ready', 'error']) loads.remove({ slot, outcome });
    for (const metric of [wait, loadTime, crashes, evictions]) metric.remove({ slot });
  }

  /** Starts counters at 0: Prometheus sees no increase in a counter that first appears as 1. */
  #initialiseCounters(slot: string): void {
    const { loads, crashes, evictions } = this.#instruments;
    for (const outcome of ['ready', 'error']) loads.labels({ slot, outcome }).inc(0);
    for (const metric of [crashes, evictions]) metric.labels({ slot }).inc(0);
  }

  #openRoute(route: string): RouteSeries {
    const labels = { ...this.#label, route };
    const series = {
      duration: this.#instruments.duration.labels(labels),
      firstToken: this.#instruments.firstToken.labels(labels),
      statuses: new Map<number, { inc(): void }>(),
    };
    this.#routes.set(route, series);
    return series;
  }

  #openStatus({ statuses }: RouteSeries, { route, status }: FinishedRequest): { inc(): void } {
    const counter = this.#instruments.requests.labels({ ...this.#label, route, status: String(status) });
    statuses.set(status, counter);
    return counter;
  }
}
