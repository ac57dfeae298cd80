import type { MemorySumView } from '../../contract/slots.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { LoadDecision } from './eviction.ts';

/** Interval of rechecks while loads wait, even without a change: memory is also freed outside of the gateway. */
const RECHECK_MS = 2_000;
/** Interval of rechecks while the figures of a load are being read. */
export const REFRESH_RETRY_MS = 50;

/** A load that requests memory. */
export interface LoadRequest {
  readonly slot: string;
  readonly pool: string;
  /** Bytes. */
  readonly needed: number;
  /** Bytes available in the pool. */
  readonly free: number;
  /** Bytes of experts on the host, in addition to `needed` on the card. */
  readonly host?: number;
  /** Whether a caller waits for the load. */
  readonly isRequested: boolean;
  /** `free` is a figure of host memory that is some seconds old. */
  readonly stale?: true;
  /** `free` is the total of a card that does not report free memory. */
  readonly unknown?: true;
}

/** What the earlier loads of the same pool need, in bytes, and the slots that they wait for. */
export interface QueuedAhead {
  readonly bytes: number;
  readonly awaitedSlots: readonly string[];
}

export interface AdmissionQueueDeps {
  readonly clock: Clock;
  /** Decides on one load, given the loads before it and the time since when it waits. */
  decide(request: LoadRequest, ahead: QueuedAhead, waitingSince: number): LoadDecision;
  /** Unloads a slot: immediately when it is idle, otherwise after its requests. */
  evict(slot: string): void;
  /** Makes the controller of a waiting load request admission again. */
  retry(slot: string): void;
}

/** The load starts after these slots have ended or used up their time slice. `retry` is called then. */
export interface WaitOutcome {
  readonly kind: 'wait';
  readonly for: readonly string[];
}

export type Admission =
  | { readonly kind: 'start' }
  | WaitOutcome
  | { readonly kind: 'refuse'; readonly sum: MemorySumView };

interface Entry extends LoadRequest {
  readonly since: number;
  readonly wakeAt: number | null;
  readonly for: readonly string[];
}

/**
 * Global FIFO admission queue. Serialises load decisions over all slots. A later load may overtake an earlier one
 * only if it does not delay it.
 */
export class AdmissionQueue {
  readonly #deps: AdmissionQueueDeps;
  readonly #entries = new Map<string, Entry>();
  #isRetrying = false;
  #isRetryScheduled = false;
  #cancelTimer: (() => void) | null = null;

  constructor(deps: AdmissionQueueDeps) {
    this.#deps = deps;
  }

  /** The waiting slots in queue order. */
  get waiting(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Decides on a load and evicts the slots that must leave for it. A load that waits keeps its position. */
  admit(request: LoadRequest): Admission {
    const { slot } = request;
    const since = this.#entries.get(slot)?.since ?? this.#deps.clock.now();
    const decision = this.#deps.decide(request, this.queuedAhead(slot, request.pool), since);
    if (decision.kind !== 'wait') {
      this.withdraw(slot);
      return decision;
    }
    this.#entries.set(slot, { ...request, since, wakeAt: decision.wakeAt, for: decision.for });
    for (const victim of decision.evict) this.#deps.evict(victim);
    return this.#waitOutcome(request, decision.for);
  }

  /**
   * Defers a load until the figures that decide on it are read. Evicts nothing. The load keeps its position if it
   * has one; a new entry needs 0 bytes and delays no other load, because its pool is not certain yet.
   */
  defer(request: LoadRequest): WaitOutcome {
    const { slot } = request;
    const now = this.#deps.clock.now();
    const entry = this.#entries.get(slot) ?? { ...request, needed: 0, since: now, for: [] };
    this.#entries.set(slot, { ...entry, wakeAt: now + REFRESH_RETRY_MS });
    return this.#waitOutcome(entry, entry.for);
  }

  #waitOutcome({ slot, pool }: LoadRequest, names: readonly string[]): WaitOutcome {
    this.#scheduleRecheck();
    const before = this.#entriesBefore(slot, pool).map((entry) => entry.slot);
    return { kind: 'wait', for: [...new Set([...names, ...before])] };
  }

  /** Returns what the loads before this one need in a pool. */
  queuedAhead(slot: string, pool: string): QueuedAhead {
    const before = this.#entriesBefore(slot, pool);
    const bytes = before.reduce((sum, { needed }) => sum + needed, 0);
    return { bytes, awaitedSlots: before.flatMap((entry) => entry.for) };
  }

  #entriesBefore(slot: string, pool: string): Entry[] {
    const all = [...this.#entries.values()];
    const ownIndex = all.findIndex((entry) => entry.slot === slot);
    return (ownIndex < 0 ? all : all.slice(0, ownIndex)).filter((entry) => entry.pool === pool);
  }

  /**
   * Returns the pool in which other slots leave for a waiting load; null when it does not wait or is not decided.
   */
  poolOf(slot: string): string | null {
    const entry = this.#entries.get(slot);
    return entry === undefined || entry.for.length === 0 ? null : entry.pool;
  }

  /** Returns since when a load waits, in Unix milliseconds; null when it does not. */
  since(slot: string): number | null {
    return this.#entries.get(slot)?.since ?? null;
  }

  /** Removes a load that is decided or no longer wanted. */
  withdraw(slot: string): void {
    if (!this.#entries.delete(slot)) return;
    this.#scheduleRecheck();
    this.changed();
  }

  /** Schedules a recheck of all waiting loads. It runs in a microtask, after the change is complete. */
  changed(): void {
    if (this.#isRetrying || this.#isRetryScheduled || this.#entries.size === 0) return;
    this.#isRetryScheduled = true;
    queueMicrotask(() => {
      this.#isRetryScheduled = false;
      this.#retryAll();
    });
  }

  #retryAll(): void {
    this.#isRetrying = true;
    try {
      for (const slot of this.waiting) if (this.#entries.has(slot)) this.#deps.retry(slot);
    } finally {
      this.#isRetrying = false;
    }
    this.#scheduleRecheck();
  }

  /** Sets one timer for the whole queue. */
  #scheduleRecheck(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#entries.size === 0) return;
    const { clock } = this.#deps;
    const now = clock.now();
    const wakes = [...this.#entries.values()].map(({ wakeAt }) => wakeAt ?? Number.POSITIVE_INFINITY);
    const at = Math.min(now + RECHECK_MS, ...wakes);
    this.#cancelTimer = clock.after(Math.max(1, at - now), () => this.#retryAll());
  }
}
