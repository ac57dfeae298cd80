import type { GatewayEvents } from '../contract/events.ts';
import type { RequestRecord } from '../contract/system.ts';
import { Bag, type Placed } from '../kit/bag.ts';
import type { Bus } from '../kit/bus.ts';
import type { Metrics } from './metrics.ts';

/** Tokens and speed of one answer, as far as the engine told them. */
export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly tokensPerSecond: number | null;
}

export interface RequestStart {
  readonly id: string;
  /** Route template, for example `/v1/chat/completions`. */
  readonly route: string;
  readonly tier: string;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
  cancel(): void;
}

export interface RequestRouting {
  readonly slot: string | null;
  readonly upstream: string | null;
  readonly step: string;
  readonly model: string | null;
}

export interface RequestEnd {
  /** Status that went to the caller; 499 when it left first. */
  readonly status: number;
  /** Code of the failure, null for success. */
  readonly error: string | null;
  readonly usage: Usage | null;
}

/** One request while it runs. */
export interface RequestTrack {
  routed(routing: RequestRouting): void;
  /** The first byte of the answer's body is on its way. */
  firstByte(): void;
  /** Once, at the very end; later calls do nothing. */
  end(result: RequestEnd): void;
}

/** Who is told about requests: the running list, the metrics and the request log behind one door. */
export interface RequestWatch {
  begin(start: RequestStart): RequestTrack;
  running(): RequestRecord[];
  /** Ends a running request; false when there is none of this id. */
  cancel(id: string): boolean;
}

export interface WatchOptions {
  /** The request log; queues and never throws. */
  readonly requests: { add(record: RequestRecord): void };
  readonly bus: Pick<Bus<GatewayEvents>, 'emit'>;
  readonly metrics: Pick<Metrics, 'finished'>;
}

export function createRequestWatch(options: WatchOptions): RequestWatch {
  const running = new Bag<Running>();
  return {
    begin(start) {
      const track = new Running(start, options, running);
      running.add(track);
      return track;
    },
    running: () => running.all().map((track) => track.record()),
    cancel(id) {
      const track = running.all().find(({ start }) => start.id === id);
      track?.start.cancel();
      return track !== undefined;
    },
  };
}

const NOWHERE = { slot: null, upstream: null, step: null, model: null };
const tenths = (ms: number): number => Math.round(ms * 10) / 10;

class Running implements RequestTrack, Placed {
  place = 0;
  readonly start: RequestStart;
  readonly #options: WatchOptions;
  readonly #running: Bag<Running>;
  readonly #at = Date.now();
  #routing: RequestRouting | typeof NOWHERE = NOWHERE;
  #firstByteAt: number | null = null;
  #result: RequestEnd | null = null;
  #endedAt = 0;

  constructor(start: RequestStart, options: WatchOptions, running: Bag<Running>) {
    this.start = start;
    this.#options = options;
    this.#running = running;
  }

  routed(routing: RequestRouting): void {
    const first = this.#routing === NOWHERE;
    this.#routing = routing;
    if (first) this.#emit('started', null);
  }

  firstByte(): void {
    this.#firstByteAt ??= performance.now();
  }

  end(result: RequestEnd): void {
    if (this.#result) return;
    this.#result = result;
    this.#endedAt = performance.now();
    this.#running.remove(this);
    this.#options.requests.add(this.record());
    this.#options.metrics.finished({
      route: this.start.route,
      target: this.#routing.slot ?? this.#routing.upstream,
      status: result.status,
      durationS: (this.#endedAt - this.start.receivedAt) / 1000,
      firstByteS: this.#firstByteAt === null ? null : (this.#firstByteAt - this.start.receivedAt) / 1000,
      promptTokens: result.usage?.promptTokens ?? null,
      completionTokens: result.usage?.completionTokens ?? null,
      tokensPerSecond: result.usage?.tokensPerSecond ?? null,
    });
    this.#emit('ended', result.status);
  }

  record(): RequestRecord {
    const { id, route, tier, receivedAt } = this.start;
    const { slot, upstream, step, model } = this.#routing;
    const result = this.#result;
    return {
      id,
      at: new Date(this.#at).toISOString(),
      route,
      model,
      slot,
      upstream,
      step,
      tier,
      state: result ? 'done' : 'running',
      status: result?.status ?? null,
      duration_ms: result ? tenths(this.#endedAt - receivedAt) : null,
      ttft_ms: this.#firstByteAt === null ? null : tenths(this.#firstByteAt - receivedAt),
      prompt_tokens: result?.usage?.promptTokens ?? null,
      completion_tokens: result?.usage?.completionTokens ?? null,
      error: result?.error ?? null,
    };
  }

  #emit(state: 'started' | 'ended', status: number | null): void {
    const { id, route } = this.start;
    this.#options.bus.emit('request', { id, route, slot: this.#routing.slot, state, status });
  }
}
