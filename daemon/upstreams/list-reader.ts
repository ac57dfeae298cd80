import { createHash } from 'node:crypto';
import { SingleFlight } from '../lib/async/single-flight.ts';
import { type ListDeps, type ListOutcome, readList } from './read-list.ts';
import type { Upstream } from './upstream.ts';

/** Maximum time for all cold lists together, in milliseconds (docs/spec/contract.md#live-lists). */
export const ALL_LISTS_LIMIT_MS = 8_000;
/** Lists that are read at once. */
const MAX_CONCURRENT = 4;

export interface ListReaderDeps extends ListDeps {
  /** Overrides the limit of docs/spec/contract.md#live-lists in tests. */
  readonly allMs?: number;
  /** Called after each request for a list, successful or not. */
  onRead(upstream: Upstream): void;
}

/**
 * Reads model lists: one request per upstream at a time, shared by all callers, and four upstreams at a time.
 */
export class ListReader {
  readonly #options: ListReaderDeps;
  readonly #flights = new SingleFlight<ListOutcome>();
  readonly #closing = new AbortController();
  readonly #waiting = new Set<Upstream>();
  #running = 0;

  constructor(options: ListReaderDeps) {
    this.#options = options;
  }

  /** Reads one list; rejects only with the signal's reason. */
  read(upstream: Upstream, signal?: AbortSignal): Promise<ListOutcome> {
    const start = async (own: AbortSignal) => {
      const until = AbortSignal.any([own, this.#closing.signal]);
      try {
        return await readList(upstream, this.#options, until);
      } finally {
        if (!until.aborted) this.#options.onRead(upstream);
      }
    };
    return this.#flights.run(flightKeyOf(upstream), start, signal);
  }

  /** Reads all of these. Resolves when all are done, after 8 s, or when the signal aborts. Never rejects. */
  async readAll(upstreams: readonly Upstream[], signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.allMs ?? ALL_LISTS_LIMIT_MS)]);
    const left = [...upstreams];
    const worker = async () => {
      for (let next = left.shift(); next !== undefined && !limit.aborted; next = left.shift()) {
        await this.read(next, limit).catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
  }

  /** Reads a list in the background, after those that wait already. */
  readInBackground(upstream: Upstream): void {
    if (this.#closing.signal.aborted) return;
    this.#waiting.add(upstream);
    this.#work();
  }

  close(): void {
    this.#closing.abort(new DOMException('the gateway is stopping', 'AbortError'));
    this.#waiting.clear();
  }

  #work(): void {
    for (const upstream of this.#waiting) {
      if (this.#running >= MAX_CONCURRENT) return;
      this.#waiting.delete(upstream);
      this.#running += 1;
      this.read(upstream)
        .catch(() => {})
        .finally(() => {
          this.#running -= 1;
          this.#work();
        });
    }
  }
}

/**
 * Returns the key under which requests are shared. A new credential makes a new request, because the response
 * to the old one does not apply to it.
 */
function flightKeyOf({ config: { name, at }, currentCredentials: { key } }: Upstream): string {
  const print = createHash('sha256').update(key).digest('base64');
  return `${name} ${at.text} ${print}`;
}
