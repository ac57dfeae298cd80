/** A bounded cache whose entries expire after a fixed time. The entry that was set first is evicted first. */
export class TtlCache<V> {
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { value: V; expiresAt: number }>();

  constructor({
    maxEntries,
    ttlMs,
    now = () => performance.now(),
  }: { maxEntries: number; ttlMs: number; now?: () => number }) {
    this.#maxEntries = maxEntries;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt <= this.#now()) return undefined;
    return entry.value;
  }

  clear(): void {
    this.#entries.clear();
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: this.#now() + this.#ttlMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries) break;
      this.#entries.delete(oldest);
    }
  }
}
