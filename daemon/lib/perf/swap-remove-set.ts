/** An item of a Bag knows its place in it. */
export interface Indexed {
  index: number;
}

/**
 * A set without order for what comes and goes thousands of times a second. Unlike a Set or Map it never rebuilds its
 * table: the tables they leave behind keep what was in them alive until the next full collection.
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

  /** Takes an item out; one that is not in the bag (any more) changes nothing. */
  remove(item: T): void {
    if (this.#items[item.index] !== item) return;
    const last = this.#items.pop() as T;
    if (last === item) return;
    this.#items[item.index] = last;
    last.index = item.index;
  }

  /** What is in it now; later changes do not show. */
  all(): T[] {
    return [...this.#items];
  }
}
