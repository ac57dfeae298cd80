/** A part of a prompt should take no longer than this, so that a caller who leaves frees the engine within 250 ms. */
const PART_MS = 150;
/**
 * The weights are read once for each part: measured on one core with 340 MB, a token took 1.8 times as long in parts of 16 as
 * in parts of 512, 1.45 times in parts of 32, 1.37 in 48 and only 1.09 in 64. So parts don't shrink below that to fit into
 * the time: a model that reads fewer than 400 tokens a second would read a third slower still, and is let go later instead.
 */
const MIN_TOKENS = 64;
/** Weight of the newest measurement. */
const NEWEST_WEIGHT = 0.5;

/** Chooses how many prompt tokens are evaluated at once, from the speed seen so far. */
export interface PrefillPace {
  /** Tokens of the next part, between 64 and the batch. */
  size(): number;
  /** Learns that `tokens` tokens took `ms`. */
  record(tokens: number, ms: number): void;
}

/** Parts start at 64 tokens and grow up to `batch` on an engine that reads fast enough. */
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
