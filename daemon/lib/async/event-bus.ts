/** A listener of one event name. */
export type Listener<T> = (payload: T, id: number) => void;

export interface EventBusEntry<Events> {
  id: number;
  name: keyof Events & string;
  payload: Events[keyof Events];
}

/**
 * In-process events with ids and a bounded replay ring, so that a reader that lost its connection can catch up
 * (`Last-Event-ID`). Emitting never throws: a failing listener is dropped from that round only.
 */
export class EventBus<Events> {
  readonly #listeners = new Set<(entry: EventBusEntry<Events>) => void>();
  readonly #ring: EventBusEntry<Events>[] = [];
  /** Place of the oldest entry, once the ring is full. */
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

  /** Calls `listener` for every later event; the answer unsubscribes. */
  subscribe(listener: (entry: EventBusEntry<Events>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What came after `id`, oldest first; null when the ring no longer reaches back that far. */
  since(id: number): EventBusEntry<Events>[] | null {
    const first = this.#ring[this.#oldest];
    if (first === undefined) return id >= this.#nextId - 1 ? [] : null;
    if (id < first.id - 1 || id >= this.#nextId) return null;
    return this.#ordered().filter((entry) => entry.id > id);
  }

  /** The newest entries, oldest first. */
  last(limit: number): EventBusEntry<Events>[] {
    return limit <= 0 ? [] : this.#ordered().slice(-limit);
  }

  #ordered(): EventBusEntry<Events>[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)];
  }

  /** The id of the newest entry: what a reader that begins now has seen. */
  get lastId(): number {
    return this.#nextId - 1;
  }
}
