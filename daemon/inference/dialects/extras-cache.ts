import { LRUCache } from 'lru-cache';
import type { Json } from './json.ts';

const MAX_ENTRIES = 4_096;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Caches fields of calls that other APIs cannot carry: Gemini puts a signature of its reasoning there, and
 * refuses a call that comes back without it. Drops the least recently used entries first.
 */
export class ExtrasCache {
  readonly #cache = new LRUCache<string, Json>({
    max: MAX_ENTRIES,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (extra, key) => JSON.stringify(extra).length + key.length,
  });

  store(upstream: string, callId: string, extra: Json): void {
    this.#cache.set(keyOf(upstream, callId), extra);
  }

  /** Returns the fields of this upstream's call; undefined when there are none, or they were dropped. */
  of(upstream: string, callId: string): Json | undefined {
    return this.#cache.get(keyOf(upstream, callId));
  }
}

const keyOf = (upstream: string, callId: string): string => `${upstream} ${callId}`;
