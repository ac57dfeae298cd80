/** An origin whose pages were refused. Times are Unix milliseconds. */
export interface RefusedOrigin {
  readonly origin: string;
  readonly last_at: number;
  readonly count: number;
}

/** Origins in memory. Any page may send another one. */
const MAX_ORIGINS = 32;
/** Warnings since the start. The list has the others. */
const MAX_WARNINGS = 32;

/** The last refused origins, in memory only. */
export class RefusedOrigins {
  /** The one that was refused last is at the end. */
  readonly #origins = new Map<string, RefusedOrigin>();
  #warnings = 0;

  /** Records a refusal. Returns whether to warn: the origin is new, and there were not too many. */
  add(origin: string, now: number): boolean {
    const known = this.#origins.get(origin);
    this.#origins.delete(origin);
    this.#origins.set(origin, { origin, last_at: now, count: (known?.count ?? 0) + 1 });
    const [oldest] = this.#origins.keys();
    if (this.#origins.size > MAX_ORIGINS && oldest !== undefined) this.#origins.delete(oldest);
    if (known !== undefined || this.#warnings >= MAX_WARNINGS) return false;
    this.#warnings += 1;
    return true;
  }

  /** Returns the origins that are not allowed now, the last one first. */
  list(allowed: ReadonlySet<string>): RefusedOrigin[] {
    return [...this.#origins.values()].filter(({ origin }) => !allowed.has(origin)).reverse();
  }
}
