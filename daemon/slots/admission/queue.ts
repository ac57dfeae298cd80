import type { MemorySumView } from '../../contract/slots.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { LoadDecision } from './eviction.ts';

/** A line that waits is looked at again after this long even if nothing seems to have changed: memory is freed elsewhere too. */
const LOOK_AGAIN_MS = 2_000;
/** One whose figures are being read is looked at again after this long. */
export const READ_AGAIN_MS = 50;

/** A load that wants memory. */
export interface Applicant {
  readonly slot: string;
  readonly pool: string;
  /** Bytes. */
  readonly needed: number;
  /** Bytes available in the pool. */
  readonly free: number;
  /** Whether somebody waits for it. */
  readonly asked: boolean;
  /** `free` is of the machine's memory, and some seconds old. */
  readonly aged?: true;
  /** `free` is all of a card that does not tell what is free. */
  readonly untold?: true;
}

/** What the loads before one need in its pool, in bytes, and the slots that they wait for. */
export interface Ahead {
  readonly bytes: number;
  readonly awaited: readonly string[];
}

export interface LoadLineParts {
  readonly clock: Clock;
  /** Decides on one load, given the loads before it and since when it waits. */
  decide(applicant: Applicant, ahead: Ahead, waitingSince: number): LoadDecision;
  /** Lets a slot go: at once when it is idle, else as soon as it has answered. */
  evict(slot: string): void;
  /** Has the owner of a waiting load ask again. */
  retry(slot: string): void;
}

/** Let through as soon as these slots have left or had their turn; `retry` tells. */
export interface Waiting {
  readonly kind: 'wait';
  readonly for: readonly string[];
}

export type Admission =
  | { readonly kind: 'start' }
  | Waiting
  | { readonly kind: 'refuse'; readonly sum: MemorySumView };

interface Place extends Applicant {
  readonly since: number;
  readonly wakeAt: number | null;
  readonly for: readonly string[];
}

/**
 * THE lock of admission: one load is decided at a time, over all slots, and those that have to wait stand in one line, in
 * the order in which they came. Who is first is let through first; who is behind may pass when that delays nobody.
 */
export class LoadLine {
  readonly #parts: LoadLineParts;
  readonly #places = new Map<string, Place>();
  #moving = false;
  #due = false;
  #cancel: (() => void) | null = null;

  constructor(parts: LoadLineParts) {
    this.#parts = parts;
  }

  /** The slots that wait, first one first. */
  get waiting(): readonly string[] {
    return [...this.#places.keys()];
  }

  /** Decides on a load and acts on the slots that have to leave for it. A load that waits keeps its place. */
  admit(applicant: Applicant): Admission {
    const { slot } = applicant;
    const since = this.#places.get(slot)?.since ?? this.#parts.clock.now();
    const decision = this.#parts.decide(applicant, this.aheadOf(slot, applicant.pool), since);
    if (decision.kind !== 'wait') {
      this.leave(slot);
      return decision;
    }
    this.#places.set(slot, { ...applicant, since, wakeAt: decision.wakeAt, for: decision.for });
    for (const victim of decision.evict) this.#parts.evict(victim);
    return this.#waits(applicant, decision.for);
  }

  /**
   * Has a load wait until the figures that decide on it are read; nobody leaves for it. It keeps the place that it has, or takes
   * one that holds up nobody, because its pool is not certain.
   */
  hold(applicant: Applicant): Waiting {
    const { slot } = applicant;
    const now = this.#parts.clock.now();
    const place = this.#places.get(slot) ?? { ...applicant, needed: 0, since: now, for: [] };
    this.#places.set(slot, { ...place, wakeAt: now + READ_AGAIN_MS });
    return this.#waits(place, place.for);
  }

  #waits({ slot, pool }: Applicant, names: readonly string[]): Waiting {
    this.#arm();
    const before = this.#before(slot, pool).map((place) => place.slot);
    return { kind: 'wait', for: [...new Set([...names, ...before])] };
  }

  /** The loads in a pool that are before this one. */
  aheadOf(slot: string, pool: string): Ahead {
    const before = this.#before(slot, pool);
    const bytes = before.reduce((sum, { needed }) => sum + needed, 0);
    return { bytes, awaited: before.flatMap((place) => place.for) };
  }

  #before(slot: string, pool: string): Place[] {
    const all = [...this.#places.values()];
    const own = all.findIndex((place) => place.slot === slot);
    return (own < 0 ? all : all.slice(0, own)).filter((place) => place.pool === pool);
  }

  /** The pool in which others leave for a load that waits; null when it does not wait, or is not decided. */
  poolOf(slot: string): string | null {
    const place = this.#places.get(slot);
    return place === undefined || place.for.length === 0 ? null : place.pool;
  }

  /** Unix milliseconds since when a load waits; null when it does not. */
  since(slot: string): number | null {
    return this.#places.get(slot)?.since ?? null;
  }

  /** The load is not wanted any more, or is decided. */
  leave(slot: string): void {
    if (!this.#places.delete(slot)) return;
    this.#arm();
    this.changed();
  }

  /** Something has changed that may let a waiting load through; looked at once the change is complete. */
  changed(): void {
    if (this.#moving || this.#due || this.#places.size === 0) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      this.#move();
    });
  }

  #move(): void {
    this.#moving = true;
    try {
      for (const slot of this.waiting) if (this.#places.has(slot)) this.#parts.retry(slot);
    } finally {
      this.#moving = false;
    }
    this.#arm();
  }

  /** One timer for the whole line. */
  #arm(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#places.size === 0) return;
    const { clock } = this.#parts;
    const now = clock.now();
    const wakes = [...this.#places.values()].map(({ wakeAt }) => wakeAt ?? Number.POSITIVE_INFINITY);
    const at = Math.min(now + LOOK_AGAIN_MS, ...wakes);
    this.#cancel = clock.after(Math.max(1, at - now), () => this.#move());
  }
}
