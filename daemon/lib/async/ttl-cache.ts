/** Answers that are kept for a while, so many at most; the one that was kept first goes first. */
export class Remembered<V> {
  readonly #most: number;
  readonly #ageMs: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { value: V; until: number }>();

  constructor({
    most,
    ageMs,
    now = () => performance.now(),
  }: { most: number; ageMs: number; now?: () => number }) {
    this.#most = most;
    this.#ageMs = ageMs;
    this.#now = now;
  }

  get(key: string): V | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.until <= this.#now()) return undefined;
    return kept.value;
  }

  clear(): void {
    this.#kept.clear();
  }

  set(key: string, value: V): void {
    this.#kept.delete(key);
    this.#kept.set(key, { value, until: this.#now() + this.#ageMs });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most) break;
      this.#kept.delete(oldest);
    }
  }
}
