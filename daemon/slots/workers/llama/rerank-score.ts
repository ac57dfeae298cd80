/** Architectures whose head ends in a softmax. Their score is a share from 0 to 1, as in llama-server. */
const SHARES: ReadonlySet<string> = new Set(['qwen3', 'qwen3vl']);

/** The shares nearest to 0 and 1 whose logit is finite. */
const MIN_SHARE = Number.MIN_VALUE;
const MAX_SHARE = 1 - Number.EPSILON / 2;

/**
 * Returns the raw output of the model's head for a score from 0 to 1, on llama-server's scale. The library applies the
 * logistic function, and this inverts it. Null for a head whose output is a share. Scores above 36.7 cannot be
 * distinguished.
 */
export function rawScore(share: number, architecture: string | null): number | null {
  if (architecture !== null && SHARES.has(architecture)) return null;
  const inside = Math.min(MAX_SHARE, Math.max(MIN_SHARE, share));
  return Math.fround(Math.log(inside) - Math.log1p(-inside));
}
