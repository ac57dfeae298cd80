import { setImmediate as turn } from 'node:timers/promises';

/** Texts that are prepared before others get a turn. */
const TEXTS_PER_TURN = 16;

/** Maps texts to tokens without holding up the process; throws the signal's reason once the caller has left. */
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
