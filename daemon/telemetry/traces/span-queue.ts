import type { Clock } from '../../slots/lifecycle/clock.ts';
import type { SpanCounts } from '../series/span-series.ts';
import type { Span } from './span.ts';

/** How a collector handled a batch. `again` means retry, after `afterMs` if given. */
export type Delivery =
  | { readonly kind: 'taken'; readonly rejected: number }
  | { readonly kind: 'again'; readonly afterMs: number | null; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface SpanQueueDeps {
  readonly clock: Clock;
  /** Sends one batch within the limit. A rejected batch is dropped. */
  deliver(spans: readonly Span[], limitMs: number): Promise<Delivery>;
  /** Called with the reason when deliveries begin to fail, and with null when they work again. */
  onStateChange(reason: string | null): void;
}

/** Maximum number of queued spans; the oldest are dropped first. */
export const MAX_QUEUED = 4096;
export const BATCH = 512;
/** Time that a span waits for others to form a batch. */
export const BATCH_WINDOW_MS = 1_000;
const SEND_LIMIT_MS = 10_000;
const FIRST_WAIT_MS = 1_000;
export const MAX_WAIT_MS = 60_000;
/** Total time for flushing at shutdown. */
export const FLUSH_MS = 2_000;

const unsendable = (): Delivery => ({ kind: 'refused', reason: 'a batch could not be written' });

/**
 * Queues spans for a collector. Sends batches one after the other and retries with exponential backoff.
 * Adding costs an array entry, never waits and never throws.
 */
export class SpanQueue {
  readonly #deps: SpanQueueDeps;
  #queued: Span[] = [];
  #cancel: (() => void) | null = null;
  #sending: Promise<void> | null = null;
  #failures = 0;
  /** No more spans are accepted (`#stopped`); no more attempts are made (`#closed`). */
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

  /** Flushes the queue within `FLUSH_MS`. Remaining spans count as dropped. */
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

  /** Sends one batch. Returns the delay before the next. A batch to retry goes back to the front. */
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

  /** Reports a change of state once, not at each attempt. */
  #reportState(reason: string | null): void {
    const changed = (reason === null) !== (this.#failureReason === null);
    this.#failureReason = reason;
    if (changed) this.#deps.onStateChange(reason);
  }
}
