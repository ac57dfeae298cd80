/** A part of a prompt should take no longer than this, so that a caller who leaves frees the engine within 250 ms. */
const PART_MS = 150;
/**
 * The weights are read once for each part: measured on a CPU, a token took half as long again in parts of 16 as in large
 * ones, a fifth in parts of 32, a tenth in parts of 48. A model that reads fewer than 400 tokens a second is let go later.
 */
const LEAST = 64;
/** Weight of the newest measurement. */
const FRESH = 0.5;

/** Chooses how many prompt tokens are evaluated at once, from the speed seen so far. */
export interface PrefillPace {
  /** Tokens of the next part, between 64 and the batch. */
  size(): number;
  /** Learns that `tokens` tokens took `ms`. */
  took(tokens: number, ms: number): void;
}

/** Parts start at 64 tokens and grow up to `batch` on an engine that reads fast enough. */
export function prefillPace(batch: number): PrefillPace {
  let msPerToken: number | null = null;
  return {
    size() {
      const fitting = msPerToken === null ? LEAST : Math.floor(PART_MS / msPerToken);
      return Math.min(batch, Math.max(LEAST, fitting));
    },
    took(tokens, ms) {
      const seen = Math.max(0.001, ms) / tokens;
      msPerToken = msPerToken === null ? seen : FRESH * seen + (1 - FRESH) * msPerToken;
    },
  };
}
