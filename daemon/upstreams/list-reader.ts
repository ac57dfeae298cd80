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
  /** A question for a list has been answered, one way or the other. */
  onRead(upstream: Upstream): void;
}

/** Reads model lists: one question to an upstream at a time, whoever asks, and four upstreams at a time. */
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

  /** Reads all of these; resolves when the last one came or failed, after 8 s, or when the signal aborts. Never rejects. */
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

  /** Reads one in the background, after those that are waiting. */
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

/** What makes one question the same as another. A new key has one of its own: what is said of the old one is not its answer. */
function flightKeyOf({ config: { name, at }, currentCredentials: { key } }: Upstream): string {
  const print = createHash('sha256').update(key).digest('base64');
  return `${name} ${at.text} ${print}`;
}
