import { loadingError, queueFullError } from '../refusals.ts';
import type { Clock } from './clock.ts';
import { FairQueue, type Priority } from './queue.ts';

/** Why somebody outside the queue wants a slot loaded: he asked for it, or the gateway does so by itself. */
export type Wish = 'asked' | 'by itself';

export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly priority: Priority;
  /** Milliseconds that this caller waits for a load. */
  readonly limitMs: number;
  /** Told once, when the load (or the place behind others) is decided. */
  readonly onDecided: (() => void) | undefined;
}

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
  decided: (() => void) | undefined;
}

export interface WaitersParts {
  readonly slot: string;
  readonly clock: Clock;
  /** Most callers that may wait. */
  most(): number;
  /** True while callers wait for a load, not for their turn. */
  loading(): boolean;
  progress(): number | null;
  /** A caller left by itself or ran out of time. */
  left(): void;
}

/**
 * Everybody who wants one slot, each answered exactly once: callers in a queue (served, refused, timed out, or gone)
 * and those who hold it for its own sake (an admin's load, the load at the start, the back-off's retry).
 */
export class Waiters<T> {
  readonly #parts: WaitersParts;
  readonly #queue = new FairQueue<Waiter<T>>();
  readonly #holds = new Map<PromiseWithResolvers<void>, Wish>();

  constructor(parts: WaitersParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** True while somebody outside the queue wants the slot loaded. */
  get held(): boolean {
    return this.#holds.size > 0;
  }

  /** True while somebody really waits: a caller or an administrator, not the gateway by itself. */
  get asked(): boolean {
    return this.size > 0 || [...this.#holds.values()].includes('asked');
  }

  /** Wants the slot loaded; resolves when it is ready, rejects with the refusal. */
  hold(wish: Wish): Promise<void> {
    const hold = Promise.withResolvers<void>();
    this.#holds.set(hold, wish);
    return hold.promise;
  }

  /** The slot is ready: those who only wanted it loaded are done. */
  satisfy(): void {
    for (const hold of this.#holds.keys()) hold.resolve();
    this.#holds.clear();
  }

  /** Waits for a turn; rejects with 429 `slot.queue_full`, 503 `slot.loading`, or the signal's reason. */
  wait(options: WaitOptions): Promise<T> {
    const { slot, clock } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let clear: () => void = () => {};
    const waiter: Waiter<T> = {
      resolve: (value) => {
        clear();
        resolve(value);
      },
      reject: (reason) => {
        clear();
        reject(reason);
      },
      decided: options.onDecided,
    };
    const leave = this.#queue.add(waiter, options.priority, this.#parts.most());
    if (leave === null) throw queueFullError(slot, this.#queue.position(options.priority));
    const goWith = (reason: unknown) => {
      if (!leave()) return;
      waiter.reject(reason);
      this.#parts.left();
    };
    const onAbort = () => goWith(options.signal.reason);
    const watch = () => clock.after(options.limitMs, onLimit);
    const onLimit = () => {
      if (this.#parts.loading()) goWith(loadingError(slot, this.#parts.progress()));
      else cancel = watch();
    };
    let cancel = watch();
    clear = () => {
      cancel();
      options.signal.removeEventListener('abort', onAbort);
    };
    options.signal.addEventListener('abort', onAbort, { once: true });
    return promise;
  }

  /** Serves the caller whose turn it is. */
  serve(value: () => T): void {
    const waiter = this.#queue.shift();
    if (waiter === undefined) return;
    tell(waiter);
    waiter.resolve(value());
  }

  /** Tells everybody who was not told yet that the load is decided. */
  decide(): void {
    for (const waiter of this.#queue.all()) tell(waiter);
  }

  /** Refuses everybody. */
  refuse(reason: unknown): void {
    for (const hold of this.#holds.keys()) hold.reject(reason);
    this.#holds.clear();
    for (const waiter of this.#queue.clear()) waiter.reject(reason);
  }
}

function tell(waiter: { decided: (() => void) | undefined }): void {
  const { decided } = waiter;
  waiter.decided = undefined;
  if (decided !== undefined) queueMicrotask(decided);
}
