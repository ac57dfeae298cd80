import { setImmediate as turn } from 'node:timers/promises';

/** Texts per event loop turn. */
const TEXTS_PER_TURN = 16;

/**
 * Maps texts to tokens and yields to the event loop in between. Throws the signal's reason once the caller
 * disconnects.
 */
export async function mapYielding<T, R>(
  items: readonly T[],
  signal: AbortSignal,
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index % TEXTS_PER_TURN === TEXTS_PER_TURN - 1) await turn();
    signal.throwIfAborted();
    results.push(map(item, index));
  }
  return results;
}
