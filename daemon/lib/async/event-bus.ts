/** A listener of one event name. */
export type Listener<T> = (payload: T, id: number) => void;

export interface EventBusEntry<Events> {
  id: number;
  name: keyof Events & string;
  payload: Events[keyof Events];
}

/**
 * In-process events with ids and a bounded replay ring, so that a reader that lost its connection can catch
 * up (`Last-Event-ID`). Emitting never throws: a listener that throws is removed.
 */
export class EventBus<Events> {
  readonly #listeners = new Set<(entry: EventBusEntry<Events>) => void>();
  readonly #ring: EventBusEntry<Events>[] = [];
  /** Index of the oldest entry once the ring is full. */
  #oldest = 0;
  readonly #capacity: number;
  #nextId: number;

  constructor(capacity = 256, firstId = Date.now()) {
    this.#capacity = capacity;
    this.#nextId = firstId;
  }

  emit<N extends keyof Events & string>(name: N, payload: Events[N]): void {
    const entry: EventBusEntry<Events> = { id: this.#nextId++, name, payload };
    if (this.#ring.length < this.#capacity) this.#ring.push(entry);
    else if (this.#capacity > 0) {
      this.#ring[this.#oldest] = entry;
      this.#oldest = (this.#oldest + 1) % this.#capacity;
    }
    for (const listener of [...this.#listeners]) {
      try {
        listener(entry);
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }

  /** Calls `listener` for every later event. Returns a function that unsubscribes. */
  subscribe(listener: (entry: EventBusEntry<Events>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the events after `id`, oldest first, or null when the ring no longer contains all of them. */
  since(id: number): EventBusEntry<Events>[] | null {
    const first = this.#ring[this.#oldest];
    if (first === undefined) return id >= this.#nextId - 1 ? [] : null;
    if (id < first.id - 1 || id >= this.#nextId) return null;
    return this.#ordered().filter((entry) => entry.id > id);
  }

  /** Returns the newest entries, oldest first. */
  last(limit: number): EventBusEntry<Events>[] {
    return limit <= 0 ? [] : this.#ordered().slice(-limit);
  }

  #ordered(): EventBusEntry<Events>[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)];
  }

  /** Id of the newest entry. */
  get lastId(): number {
    return this.#nextId - 1;
  }
}
