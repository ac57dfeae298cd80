/** Storage of the counts across restarts. */
export interface KeyValueStore {
  get(key: string): string | null;
  set(key: string, value: string): void;
}

const STORE_KEY = 'upstreams.daily';
const DAY_MS = 86_400_000;

type Counts = Record<string, number>;

/** Requests of this day (UTC) by upstream. */
export class DailyQuota {
  readonly #store: KeyValueStore;
  readonly #now: () => number;
  #day: string;
  #counts: Map<string, number>;

  /** `now`: Unix milliseconds. */
  constructor(store: KeyValueStore, now: () => number) {
    this.#store = store;
    this.#now = now;
    const stored = readCounts(store.get(STORE_KEY));
    this.#day = stored.day;
    this.#counts = stored.counts;
  }

  of(name: string): number {
    this.#resetOnNewDay();
    return this.#counts.get(name) ?? 0;
  }

  /**
   * Adds to the count of one upstream. `persist` writes it before the call returns, so that no restart loses
   * it.
   */
  add(name: string, by: 1 | -1, persist: boolean): void {
    this.#resetOnNewDay();
    this.#counts.set(name, Math.max(0, (this.#counts.get(name) ?? 0) + by));
    if (persist)
      this.#store.set(
        STORE_KEY,
        JSON.stringify({ day: this.#day, counts: Object.fromEntries(this.#counts) }),
      );
  }

  /** Seconds until the counts are reset. */
  secondsLeft(): number {
    return Math.ceil((DAY_MS - (this.#now() % DAY_MS)) / 1000);
  }

  #resetOnNewDay(): void {
    const today = new Date(this.#now()).toISOString().slice(0, 10);
    if (today === this.#day) return;
    this.#day = today;
    this.#counts = new Map();
  }
}

function readCounts(text: string | null): { day: string; counts: Map<string, number> } {
  try {
    const stored = JSON.parse(text ?? '{}') as { day?: unknown; counts?: Counts };
    const entries = Object.entries(stored.counts ?? {}).filter(([, count]) => Number.isSafeInteger(count));
    return { day: typeof stored.day === 'string' ? stored.day : '', counts: new Map(entries) };
  } catch {
    return { day: '', counts: new Map() };
  }
}
