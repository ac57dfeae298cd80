/** Fewest tokens from which a speed is taken: the time of one or two says more of clocks than of an engine. */
const MIN_TOKENS = 5;

/**
 * The speed of an answer in tokens a second, to one decimal; null when it is not known, and of an answer so short that it
 * says nothing. `tokens` is null where the engine did not count them.
 */
export function speedOf(tokens: number | null, perSecond: number | null): number | null {
  if (perSecond === null || !Number.isFinite(perSecond)) return null;
  if (tokens !== null && tokens < MIN_TOKENS) return null;
  return Math.round(perSecond * 10) / 10;
}
