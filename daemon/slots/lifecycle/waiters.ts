import { loadingError, queueFullError } from '../refusals.ts';
import type { Clock } from './clock.ts';
import { FairQueue, type Priority } from './queue.ts';

/** Why somebody outside the queue wants a slot loaded: he asked for it, or the gateway does so by itself. */
export type LoadTrigger = 'request' | 'auto';

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
  onDecided: (() => void) | undefined;
}

export interface WaitersDeps {
  readonly slot: string;
  readonly clock: Clock;
  /** Most callers that may wait. */
  maxSize(): number;
  /** True while callers wait for a load, not for their turn. */
  isLoading(): boolean;
  progress(): number | null;
  /** A caller left by itself or ran out of time. */
  onLeave(): void;
}

/**
 * Everybody who wants one slot, each answered exactly once: callers in a queue (served, refused, timed out, or gone)
 * and those who hold it for its own sake (an admin's load, the load at the start, the back-off's retry).
 */
export class Waiters<T> {
  readonly #deps: WaitersDeps;
  readonly #queue = new FairQueue<Waiter<T>>();
  readonly #loadRequests = new Map<PromiseWithResolvers<void>, LoadTrigger>();

  constructor(deps: WaitersDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** True while somebody outside the queue wants the slot loaded. */
  get isLoadRequested(): boolean {
    return this.#loadRequests.size > 0;
  }

  /** True while somebody really waits: a caller or an administrator, not the gateway by itself. */
  get isRequested(): boolean {
    return this.size > 0 || [...this.#loadRequests.values()].includes('request');
  }

  /** Wants the slot loaded; resolves when it is ready, rejects with the refusal. */
  requestLoad(trigger: LoadTrigger): Promise<void> {
    const request = Promise.withResolvers<void>();
    this.#loadRequests.set(request, trigger);
    return request.promise;
  }

  /** The slot is ready: those who only wanted it loaded are done. */
  resolveLoads(): void {
    for (const request of this.#loadRequests.keys()) request.resolve();
    this.#loadRequests.clear();
  }

  /** Waits for a turn; rejects with 429 `slot.queue_full`, 503 `slot.loading`, or the signal's reason. */
  wait(options: WaitOptions): Promise<T> {
    const { slot, clock } = this.#deps;
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
      onDecided: options.onDecided,
    };
    const leave = this.#queue.add(waiter, options.priority, this.#deps.maxSize());
    if (leave === null) throw queueFullError(slot, this.#queue.position(options.priority));
    const leaveWith = (reason: unknown) => {
      if (!leave()) return;
      waiter.reject(reason);
      this.#deps.onLeave();
    };
    const onAbort = () => leaveWith(options.signal.reason);
    const watch = () => clock.after(options.limitMs, onLimit);
    const onLimit = () => {
      if (this.#deps.isLoading()) leaveWith(loadingError(slot, this.#deps.progress()));
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
    notifyDecided(waiter);
    waiter.resolve(value());
  }

  /** Tells everybody who was not told yet that the load is decided. */
  notifyAdmitted(): void {
    for (const waiter of this.#queue.all()) notifyDecided(waiter);
  }

  /** Refuses everybody. */
  refuse(reason: unknown): void {
    for (const request of this.#loadRequests.keys()) request.reject(reason);
    this.#loadRequests.clear();
    for (const waiter of this.#queue.clear()) waiter.reject(reason);
  }
}

function notifyDecided(waiter: { onDecided: (() => void) | undefined }): void {
  const { onDecided } = waiter;
  waiter.onDecided = undefined;
  if (onDecided !== undefined) queueMicrotask(onDecided);
}
