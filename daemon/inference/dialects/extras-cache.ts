import type { Json } from './json.ts';

const MOST = 4_096;
const MOST_CHARACTERS = 8 * 1024 * 1024;

interface Kept {
  readonly extra: Json;
  readonly size: number;
}

/**
 * What upstreams said with calls beside name and arguments, for which other APIs have no place: Gemini signs its thoughts
 * there, and refuses a call that comes back without. The oldest are forgotten first.
 */
export class KeptExtras {
  readonly #kept = new Map<string, Kept>();
  #size = 0;

  keep(upstream: string, callId: string, extra: Json): void {
    const size = JSON.stringify(extra).length + callId.length;
    if (size > MOST_CHARACTERS) return;
    const key = keyOf(upstream, callId);
    this.#forget(key);
    this.#kept.set(key, { extra, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST && this.#size <= MOST_CHARACTERS) return;
      this.#forget(oldest);
    }
  }

  /** What this upstream said with this call; undefined when that was nothing, or is forgotten. */
  of(upstream: string, callId: string): Json | undefined {
    return this.#kept.get(keyOf(upstream, callId))?.extra;
  }

  #forget(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}

const keyOf = (upstream: string, callId: string): string => `${upstream} ${callId}`;
