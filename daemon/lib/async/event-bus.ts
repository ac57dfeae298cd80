/** A listener of one event name. */
export type Listener<T> = (payload: T, id: number) => void;

export interface BusEntry<Events> {
  id: number;
  name: keyof Events & string;
  payload: Events[keyof Events];
}

/**
 * In-process events with ids and a bounded replay ring, so that a reader that lost its connection can catch up
 * (`Last-Event-ID`). Emitting never throws: a failing listener is dropped from that round only.
 */
export class Bus<Events> {
  readonly #listeners = new Set<(entry: BusEntry<Events>) => void>();
  readonly #ring: BusEntry<Events>[] = [];
  /** Place of the oldest entry, once the ring is full. */
  #oldest = 0;
  readonly #keep: number;
  #nextId: number;

  constructor(keep = 256, firstId = Date.now()) {
    this.#keep = keep;
    this.#nextId = firstId;
  }

  emit<N extends keyof Events & string>(name: N, payload: Events[N]): void {
    const entry: BusEntry<Events> = { id: this.#nextId++, name, payload };
    if (this.#ring.length < this.#keep) this.#ring.push(entry);
    else if (this.#keep > 0) {
      this.#ring[this.#oldest] = entry;
      this.#oldest = (this.#oldest + 1) % this.#keep;
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
  subscribe(listener: (entry: BusEntry<Events>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What came after `id`, oldest first; null when the ring no longer reaches back that far. */
  since(id: number): BusEntry<Events>[] | null {
    const first = this.#ring[this.#oldest];
    if (first === undefined) return id >= this.#nextId - 1 ? [] : null;
    if (id < first.id - 1 || id >= this.#nextId) return null;
    return this.#ordered().filter((entry) => entry.id > id);
  }

  /** The newest entries, oldest first. */
  last(most: number): BusEntry<Events>[] {
    return most <= 0 ? [] : this.#ordered().slice(-most);
  }

  #ordered(): BusEntry<Events>[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)];
  }

  /** The id of the newest entry: what a reader that begins now has seen. */
  get lastId(): number {
    return this.#nextId - 1;
  }
}
