/** An item that stores its own index in a SwapRemoveSet. */
export interface Indexed {
  index: number;
}

/**
 * An unordered set for items that are added and removed thousands of times a second. Unlike Set and Map it
 * never rebuilds its table. Old tables keep their entries alive until the next full collection.
 */
export class SwapRemoveSet<T extends Indexed> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    item.index = this.#items.length;
    this.#items.push(item);
  }

  /** Removes an item. Does nothing if the set does not contain it. */
  remove(item: T): void {
    if (this.#items[item.index] !== item) return;
    const last = this.#items.pop() as T;
    if (last === item) return;
    this.#items[item.index] = last;
    last.index = item.index;
  }

  /** Returns a copy of the current items. */
  all(): T[] {
    return [...this.#items];
  }
}
