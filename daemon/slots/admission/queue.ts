import type { MemorySumView } from '../../contract/slots.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { LoadDecision } from './eviction.ts';

/** A line that waits is looked at again after this long even if nothing seems to have changed: memory is freed elsewhere too. */
const RECHECK_MS = 2_000;
/** One whose figures are being read is looked at again after this long. */
export const REFRESH_RETRY_MS = 50;

/** A load that wants memory. */
export interface LoadRequest {
  readonly slot: string;
  readonly pool: string;
  /** Bytes. */
  readonly needed: number;
  /** Bytes available in the pool. */
  readonly free: number;
  /** Whether somebody waits for it. */
  readonly isRequested: boolean;
  /** `free` is of the machine's memory, and some seconds old. */
  readonly stale?: true;
  /** `free` is all of a card that does not tell what is free. */
  readonly unknown?: true;
}

/** What the loads before one need in its pool, in bytes, and the slots that they wait for. */
export interface QueuedAhead {
  readonly bytes: number;
  readonly awaitedSlots: readonly string[];
}

export interface AdmissionQueueDeps {
  readonly clock: Clock;
  /** Decides on one load, given the loads before it and since when it waits. */
  decide(request: LoadRequest, ahead: QueuedAhead, waitingSince: number): LoadDecision;
  /** Lets a slot go: at once when it is idle, else as soon as it has answered. */
  evict(slot: string): void;
  /** Has the owner of a waiting load ask again. */
  retry(slot: string): void;
}

/** Let through as soon as these slots have left or had their turn; `retry` tells. */
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
 * THE lock of admission: one load is decided at a time, over all slots, and those that have to wait stand in one line, in
 * the order in which they came. Who is first is let through first; who is behind may pass when that delays nobody.
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

  /** The slots that wait, first one first. */
  get waiting(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Decides on a load and acts on the slots that have to leave for it. A load that waits keeps its place. */
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
   * Has a load wait until the figures that decide on it are read; nobody leaves for it. It keeps the place that it has, or takes
   * one that holds up nobody, because its pool is not certain.
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

  /** The loads in a pool that are before this one. */
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

  /** The pool in which others leave for a load that waits; null when it does not wait, or is not decided. */
  poolOf(slot: string): string | null {
    const entry = this.#entries.get(slot);
    return entry === undefined || entry.for.length === 0 ? null : entry.pool;
  }

  /** Unix milliseconds since when a load waits; null when it does not. */
  since(slot: string): number | null {
    return this.#entries.get(slot)?.since ?? null;
  }

  /** The load is not wanted any more, or is decided. */
  withdraw(slot: string): void {
    if (!this.#entries.delete(slot)) return;
    this.#scheduleRecheck();
    this.changed();
  }

  /** Something has changed that may let a waiting load through; looked at once the change is complete. */
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

  /** One timer for the whole line. */
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
