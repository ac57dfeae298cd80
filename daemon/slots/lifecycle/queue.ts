/** Who goes first: interactive callers before batch ones, each kind in the order of arrival. */
export type Priority = 'interactive' | 'batch';
const ORDER: readonly Priority[] = ['interactive', 'batch'];
/** After so many interactive callers in a row a waiting batch caller has its turn, so that none starves. */
export const BATCH_TURN = 8;

interface Place<T> {
  readonly value: T;
  readonly priority: Priority;
}

/**
 * The callers that wait for one slot: bounded and fair, interactive before batch. It only orders; what is granted
 * and when is its owner's matter.
 */
export class FairQueue<T> {
  readonly #lanes: Record<Priority, Set<Place<T>>> = { interactive: new Set(), batch: new Set() };
  #passed = 0;

  get size(): number {
    return this.#lanes.interactive.size + this.#lanes.batch.size;
  }

  /** Adds a caller unless `most` wait already; the answer takes it out again (null: the queue is full). */
  add(value: T, priority: Priority, most: number): (() => boolean) | null {
    if (this.size >= most) return null;
    const place = { value, priority };
    this.#lanes[priority].add(place);
    return () => this.#lanes[priority].delete(place);
  }

  /** Takes the caller whose turn it is. */
  shift(): T | undefined {
    const batchDue = this.#passed >= BATCH_TURN && this.#lanes.batch.size > 0;
    const order = batchDue ? (['batch', 'interactive'] as const) : ORDER;
    for (const priority of order) {
      const [place] = this.#lanes[priority];
      if (place === undefined) continue;
      this.#lanes[priority].delete(place);
      this.#passed = priority === 'interactive' && this.#lanes.batch.size > 0 ? this.#passed + 1 : 0;
      return place.value;
    }
    return undefined;
  }

  /** The place that a new caller would take, counted from 1. */
  position(priority: Priority): number {
    return (priority === 'interactive' ? this.#lanes.interactive.size : this.size) + 1;
  }

  /** Everybody who waits, next first. */
  all(): T[] {
    return ORDER.flatMap((priority) => [...this.#lanes[priority]].map((place) => place.value));
  }

  /** Empties the queue and answers who waited. */
  clear(): T[] {
    const waiting = this.all();
    for (const priority of ORDER) this.#lanes[priority].clear();
    return waiting;
  }
}
