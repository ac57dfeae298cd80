import type { SlotTypeName } from '../../contract/slots.ts';

/** How many callers may wait for a slot, and how many bytes their bodies may have together. */
export interface QueueLimit {
  readonly requests: number;
  readonly bytes: number;
  /** How its owner can change what waits. */
  readonly remedy: string;
}

const MANY_SHORT: ReadonlySet<SlotTypeName> = new Set(['embedding', 'rerank']);
const MAX_SHORT_REQUESTS = 1_024;
const MAX_SHORT_BYTES = 256 * 1024 * 1024;

/**
 * Returns the limit of the queue of a slot (docs/spec/contract.md#queue-max). Clients send one short request for each
 * part of a document, all at once, and give up on a 429; such requests take milliseconds.
 */
export function queueLimitOf(slot: string, type: SlotTypeName, queueMax: number): QueueLimit {
  if (MANY_SHORT.has(type))
    return {
      requests: MAX_SHORT_REQUESTS,
      bytes: MAX_SHORT_BYTES,
      remedy: `Send several inputs in one request, or raise parallel in slots/${slot}.toml.`,
    };
  return {
    requests: queueMax,
    bytes: Number.POSITIVE_INFINITY,
    remedy: 'Try again later, or raise the setting slots.queue_max.',
  };
}

/** Served turns from which the pace is measured. */
const MEASURED_TURNS = 16;

/** Measures how fast a queue advances while callers wait in it. */
export class QueuePace {
  #servedAt: number[] = [];

  /** Records that a caller was served, at a time in milliseconds. `left` callers still wait. */
  recordServed(now: number, left: number): void {
    if (left === 0) this.#servedAt = [];
    else this.#servedAt = [...this.#servedAt.slice(1 - MEASURED_TURNS), now];
  }

  /** Returns the seconds until `size` callers have been served; null before a turn has been measured. */
  expectedS(size: number, now: number): number | null {
    const [oldest] = this.#servedAt;
    const elapsed = oldest === undefined ? 0 : now - oldest;
    return elapsed <= 0 ? null : Math.max(1, Math.ceil((elapsed / this.#servedAt.length / 1000) * size));
  }
}
