/** Who goes first: interactive callers before batch ones, each kind in the order of arrival. */
export type Priority = 'interactive' | 'batch';
const PRIORITIES: readonly Priority[] = ['interactive', 'batch'];
/** After so many interactive callers in a row a waiting batch caller has its turn, so that none starves. */
export const MAX_INTERACTIVE_IN_A_ROW = 8;

interface Entry<T> {
  readonly value: T;
  readonly priority: Priority;
}

/**
 * The callers that wait for one slot: bounded and fair, interactive before batch. It only orders; what is granted
 * and when is its owner's matter.
 */
export class FairQueue<T> {
  readonly #lanes: Record<Priority, Set<Entry<T>>> = { interactive: new Set(), batch: new Set() };
  #interactiveInARow = 0;

  get size(): number {
    return this.#lanes.interactive.size + this.#lanes.batch.size;
  }

  /** Adds a caller unless `most` wait already; the answer takes it out again (null: the queue is full). */
  add(value: T, priority: Priority, maxSize: number): (() => boolean) | null {
    if (this.size >= maxSize) return null;
    const entry = { value, priority };
    this.#lanes[priority].add(entry);
    return () => this.#lanes[priority].delete(entry);
  }

  /** Takes the caller whose turn it is. */
  shift(): T | undefined {
    const batchDue = this.#interactiveInARow >= MAX_INTERACTIVE_IN_A_ROW && this.#lanes.batch.size > 0;
    const order = batchDue ? (['batch', 'interactive'] as const) : PRIORITIES;
    for (const priority of order) {
      const [entry] = this.#lanes[priority];
      if (entry === undefined) continue;
      this.#lanes[priority].delete(entry);
      this.#interactiveInARow =
        priority === 'interactive' && this.#lanes.batch.size > 0 ? this.#interactiveInARow + 1 : 0;
      return entry.value;
    }
    return undefined;
  }

  /** The place that a new caller would take, counted from 1. */
  position(priority: Priority): number {
    return (priority === 'interactive' ? this.#lanes.interactive.size : this.size) + 1;
  }

  /** Everybody who waits, next first. */
  all(): T[] {
    return PRIORITIES.flatMap((priority) => [...this.#lanes[priority]].map((entry) => entry.value));
  }

  /** Empties the queue and answers who waited. */
  clear(): T[] {
    const waiting = this.all();
    for (const priority of PRIORITIES) this.#lanes[priority].clear();
    return waiting;
  }
}
