/** Minimum number of tokens for a meaningful speed. */
const MIN_TOKENS = 5;

/**
 * Returns the speed of a response in tokens per second, to one decimal. Null when it is unknown or the
 * response is too short. `tokens` is null when the engine did not count them.
 */
export function speedOf(tokens: number | null, perSecond: number | null): number | null {
  if (perSecond === null || !Number.isFinite(perSecond)) return null;
  if (tokens !== null && tokens < MIN_TOKENS) return null;
  return Math.round(perSecond * 10) / 10;
}
