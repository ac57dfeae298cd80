import type { Json } from './json.ts';

const MAX_ENTRIES = 4_096;
const MAX_CHARACTERS = 8 * 1024 * 1024;

interface CachedExtra {
  readonly extra: Json;
  readonly size: number;
}

/**
 * Caches fields of calls that other APIs cannot carry: Gemini puts a signature of its reasoning there, and
 * refuses a call that comes back without it. Drops the oldest entries first.
 */
export class ExtrasCache {
  readonly #entries = new Map<string, CachedExtra>();
  #size = 0;

  store(upstream: string, callId: string, extra: Json): void {
    const size = JSON.stringify(extra).length + callId.length;
    if (size > MAX_CHARACTERS) return;
    const key = keyOf(upstream, callId);
    this.#forget(key);
    this.#entries.set(key, { extra, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#size <= MAX_CHARACTERS) return;
      this.#forget(oldest);
    }
  }

  /** Returns the fields of this upstream's call; undefined when there are none, or they were dropped. */
  of(upstream: string, callId: string): Json | undefined {
    return this.#entries.get(keyOf(upstream, callId))?.extra;
  }

  #forget(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}

const keyOf = (upstream: string, callId: string): string => `${upstream} ${callId}`;
