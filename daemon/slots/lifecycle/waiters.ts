import type { GatewayError } from '../../contract/errors.ts';
import { loadingError, queueFullError } from '../refusals.ts';
import type { Clock } from './clock.ts';
import { FairQueue, type Priority } from './queue.ts';
import { type QueueLimit, QueuePace } from './queue-limit.ts';

/** Why a load was requested outside of the queue: an admin requested it, or the gateway does so automatically. */
export type LoadTrigger = 'request' | 'auto';

export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly priority: Priority;
  /** Size of the request body, which stays in memory meanwhile. */
  readonly bytes?: number | undefined;
  /** Milliseconds that this caller may wait for a load. */
  readonly limitMs: number;
  /** Called once, when the load (or the position behind others) is decided. */
  readonly onDecided: (() => void) | undefined;
}

interface Waiter<T> {
  readonly bytes: number;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
  onDecided: (() => void) | undefined;
}

export interface WaitersDeps {
  readonly slot: string;
  readonly clock: Clock;
  /** Returns how many callers may wait. */
  limit(): QueueLimit;
  /** True while callers wait for a load, not for their turn. */
  isLoading(): boolean;
  progress(): number | null;
  /** Called when a caller disconnected or its time limit is over. */
  onLeave(): void;
}

/**
 * All callers of one slot, each settled exactly once: queued requests (served, refused, timed out or disconnected),
 * and load requests without a request (an admin's load, autoload, a retry of the back-off).
 */
export class Waiters<T> {
  readonly #deps: WaitersDeps;
  readonly #queue = new FairQueue<Waiter<T>>();
  readonly #loadRequests = new Map<PromiseWithResolvers<void>, LoadTrigger>();
  readonly #pace = new QueuePace();
  #bytes = 0;

  constructor(deps: WaitersDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** True while a load is requested outside of the queue. */
  get isLoadRequested(): boolean {
    return this.#loadRequests.size > 0;
  }

  /** True while a caller or an administrator waits, not only the gateway itself. */
  get isRequested(): boolean {
    return this.size > 0 || [...this.#loadRequests.values()].includes('request');
  }

  /** Requests a load without a request. Resolves when the slot is ready, rejects with the refusal. */
  requestLoad(trigger: LoadTrigger): Promise<void> {
    const request = Promise.withResolvers<void>();
    this.#loadRequests.set(request, trigger);
    return request.promise;
  }

  /** Resolves all load requests, because the slot is ready. */
  resolveLoads(): void {
    for (const request of this.#loadRequests.keys()) request.resolve();
    this.#loadRequests.clear();
  }

  /** Waits for a lease. Rejects with 429 `slot.queue_full`, 503 `slot.loading`, or the signal's reason. */
  wait(options: WaitOptions): Promise<T> {
    const { slot, clock } = this.#deps;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let clear: () => void = () => {};
    const { bytes = 0 } = options;
    const waiter: Waiter<T> = {
      bytes,
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
    const limit = this.#deps.limit();
    const isTooLarge = this.size > 0 && this.#bytes + bytes > limit.bytes;
    const leave = isTooLarge ? null : this.#queue.add(waiter, options.priority, limit.requests);
    if (leave === null) throw this.#fullError(options.priority, limit);
    this.#bytes += bytes;
    const leaveWith = (reason: unknown) => {
      if (!leave()) return;
      this.#bytes -= bytes;
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

  /** Serves the next caller. */
  serve(value: () => T): void {
    const waiter = this.#queue.shift();
    if (waiter === undefined) return;
    this.#bytes -= waiter.bytes;
    this.#pace.recordServed(this.#deps.clock.now(), this.size);
    notifyDecided(waiter);
    waiter.resolve(value());
  }

  /** Notifies each waiting caller once that the load is decided. */
  notifyAdmitted(): void {
    for (const waiter of this.#queue.all()) notifyDecided(waiter);
  }

  /** Rejects all load requests. Queued callers stay. */
  refuseLoads(reason: unknown): void {
    for (const request of this.#loadRequests.keys()) request.reject(reason);
    this.#loadRequests.clear();
  }

  /** Rejects all callers and load requests. */
  refuse(reason: unknown): void {
    this.refuseLoads(reason);
    for (const waiter of this.#queue.clear()) waiter.reject(reason);
    this.#bytes = 0;
  }

  #fullError(priority: Priority, { remedy }: QueueLimit): GatewayError {
    const { slot, clock, isLoading } = this.#deps;
    const expectedS = isLoading() ? null : this.#pace.expectedS(this.size, clock.now());
    const position = this.#queue.position(priority);
    return queueFullError({ slot, position, queued: this.size, bytes: this.#bytes, expectedS, remedy });
  }
}

function notifyDecided(waiter: { onDecided: (() => void) | undefined }): void {
  const { onDecided } = waiter;
  waiter.onDecided = undefined;
  if (onDecided !== undefined) queueMicrotask(onDecided);
}
