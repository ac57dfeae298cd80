/** Interactive callers are served before batch callers, each kind in order of arrival. */
export type Priority = 'interactive' | 'batch';
const PRIORITIES: readonly Priority[] = ['interactive', 'batch'];
/** After this many interactive callers in a row, one waiting batch caller is served, so that none starves. */
export const MAX_INTERACTIVE_IN_A_ROW = 8;

interface Entry<T> {
  readonly value: T;
  readonly priority: Priority;
}

/**
 * The callers that wait for one slot: bounded, interactive before batch. It only orders them; the slot controller
 * decides when one is served.
 */
export class FairQueue<T> {
  readonly #lanes: Record<Priority, Set<Entry<T>>> = { interactive: new Set(), batch: new Set() };
  #interactiveInARow = 0;

  get size(): number {
    return this.#lanes.interactive.size + this.#lanes.batch.size;
  }

  /**
   * Adds a caller unless `maxSize` callers wait already. Returns a function that removes it; null when the queue is
   * full.
   */
  add(value: T, priority: Priority, maxSize: number): (() => boolean) | null {
    if (this.size >= maxSize) return null;
    const entry = { value, priority };
    this.#lanes[priority].add(entry);
    return () => this.#lanes[priority].delete(entry);
  }

  /** Removes and returns the next caller. */
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

  /** Returns the position that a new caller would have, counted from 1. */
  position(priority: Priority): number {
    return (priority === 'interactive' ? this.#lanes.interactive.size : this.size) + 1;
  }

  /** Returns all waiting callers, the next one first. */
  all(): T[] {
    return PRIORITIES.flatMap((priority) => [...this.#lanes[priority]].map((entry) => entry.value));
  }

  /** Empties the queue and returns the callers that waited. */
  clear(): T[] {
    const waiting = this.all();
    for (const priority of PRIORITIES) this.#lanes[priority].clear();
    return waiting;
  }
}
