/** Maximum duration of a prompt part, so that a disconnect frees the engine within 250 ms. */
const PART_MS = 150;
/**
 * The weights are read once per part. Measured on one core with 340 MB: a token took 1.8 times as long in
 * parts of 16 as in parts of 512, 1.45 times in parts of 32, 1.37 in 48 and only 1.09 in 64. Parts are
 * therefore never smaller, even when they exceed the duration: a model that reads fewer than 400 tokens per
 * second would become a third slower, so it is freed later instead.
 */
const MIN_TOKENS = 64;
/** Weight of the newest measurement. */
const NEWEST_WEIGHT = 0.5;

/** Chooses how many prompt tokens to evaluate at once, from the measured speed. */
export interface PrefillPace {
  /** Tokens of the next part, between 64 and the batch size. */
  size(): number;
  /** Records that `tokens` tokens took `ms`. */
  record(tokens: number, ms: number): void;
}

/** Parts start at 64 tokens and grow up to `batch` on a fast engine. */
export function prefillPace(batch: number): PrefillPace {
  let msPerToken: number | null = null;
  return {
    size() {
      const fitting = msPerToken === null ? MIN_TOKENS : Math.floor(PART_MS / msPerToken);
      return Math.min(batch, Math.max(MIN_TOKENS, fitting));
    },
    record(tokens, ms) {
      const measured = Math.max(0.001, ms) / tokens;
      msPerToken =
        msPerToken === null ? measured : NEWEST_WEIGHT * measured + (1 - NEWEST_WEIGHT) * msPerToken;
    },
  };
}
