import type { Clock } from '../../slots/lifecycle/clock.ts';
import type { SpanCounts } from '../series/span-series.ts';
import type { Span } from './span.ts';

/** What a collector made of a batch: `again` asks for another try, after so long when it says so. */
export type Delivery =
  | { readonly kind: 'taken'; readonly rejected: number }
  | { readonly kind: 'again'; readonly afterMs: number | null; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface SpanQueueDeps {
  readonly clock: Clock;
  /** Sends one batch and ends within the limit; one that it rejects is given up. */
  deliver(spans: readonly Span[], limitMs: number): Promise<Delivery>;
  /** Told when deliveries begin to fail, and null when they work again. */
  onStateChange(reason: string | null): void;
}

/** Spans that wait at most; beyond it the oldest are given up. */
export const MAX_QUEUED = 4096;
export const BATCH = 512;
/** A span waits this long for others to go with it. */
export const BATCH_WINDOW_MS = 1_000;
const SEND_LIMIT_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
export const MAX_WAIT_MS = 60_000;
/** The whole time that a stop gives to what waits. */
export const FLUSH_MS = 2_000;

const unsendable = (): Delivery => ({ kind: 'refused', reason: 'a batch could not be written' });

/**
 * Spans on their way to a collector: gathered, sent in batches one after the other, tried again with growing waits while
 * the collector is away. Adding costs an array entry, never waits and never throws.
 */
export class SpanQueue {
  readonly #deps: SpanQueueDeps;
  #queued: Span[] = [];
  #cancel: (() => void) | null = null;
  #sending: Promise<void> | null = null;
  #failures = 0;
  /** Nothing is taken any more; and then: nothing is tried any more. */
  #stopped = false;
  #closed = false;
  #failureReason: string | null = null;
  readonly #counts = { sent: 0, dropped: 0, refused: 0 };

  constructor(options: SpanQueueDeps) {
    this.#deps = options;
  }

  counts(): SpanCounts {
    return { ...this.#counts };
  }

  add(spans: readonly Span[]): void {
    if (this.#stopped) {
      this.#counts.dropped += spans.length;
      return;
    }
    this.#queued.push(...spans);
    this.#trim();
    if (this.#queued.length >= BATCH && this.#failures === 0) this.#sendNow();
    else this.#sendAfter(BATCH_WINDOW_MS);
  }

  /** Gives what waits one last try within `FLUSH_MS`; what is left then counts as dropped. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#cancel?.();
    const { clock } = this.#deps;
    const end = clock.now() + FLUSH_MS;
    const limit = Promise.withResolvers<void>();
    const cancel = clock.after(FLUSH_MS, limit.resolve);
    await Promise.race([this.#drain(end), limit.promise]);
    cancel();
    this.#closed = true;
    this.#counts.dropped += this.#queued.length;
    this.#queued = [];
  }

  async #drain(end: number): Promise<void> {
    await this.#sending;
    let left = Number.POSITIVE_INFINITY;
    while (this.#queued.length > 0 && this.#queued.length < left) {
      left = this.#queued.length;
      await this.#send(Math.max(1, end - this.#deps.clock.now()));
    }
  }

  #trim(): void {
    const excess = this.#queued.length - MAX_QUEUED;
    if (excess <= 0) return;
    this.#queued.splice(0, excess);
    this.#counts.dropped += excess;
  }

  #sendAfter(ms: number): void {
    if (this.#sending !== null || this.#stopped) return;
    this.#cancel ??= this.#deps.clock.after(ms, () => this.#sendNow());
  }

  #sendNow(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#sending !== null || this.#queued.length === 0 || this.#stopped) return;
    this.#sending = this.#send(SEND_LIMIT_MS).then((waitMs) => {
      this.#sending = null;
      if (this.#queued.length > 0) this.#sendAfter(waitMs);
    });
  }

  /** Sends one batch; answers how long to wait before the next. A batch that is to be tried again goes back in front. */
  async #send(limitMs: number): Promise<number> {
    const batch = this.#queued.splice(0, BATCH);
    const delivery = await this.#deps.deliver(batch, limitMs).catch(unsendable);
    if (delivery.kind === 'again' && this.#closed) {
      this.#counts.dropped += batch.length;
      return MAX_WAIT_MS;
    }
    if (delivery.kind === 'again') {
      this.#queued = [...batch, ...this.#queued];
      this.#trim();
      this.#reportState(delivery.reason);
      const doubled = FIRST_WAIT_MS * 2 ** Math.min(this.#failures++, 16);
      return Math.min(MAX_WAIT_MS, Math.max(doubled, delivery.afterMs ?? 0));
    }
    const refused = delivery.kind === 'refused' ? batch.length : Math.min(batch.length, delivery.rejected);
    this.#counts.refused += refused;
    this.#counts.sent += batch.length - refused;
    this.#reportState(delivery.kind === 'refused' ? delivery.reason : null);
    this.#failures = 0;
    return this.#queued.length >= BATCH ? 0 : BATCH_WINDOW_MS;
  }

  /** A state is told once, not at each try. */
  #reportState(reason: string | null): void {
    const changed = (reason === null) !== (this.#failureReason === null);
    this.#failureReason = reason;
    if (changed) this.#deps.onStateChange(reason);
  }
}
