/** Architectures whose head ends in a softmax: their score is a share from 0 to 1, here as in llama-server. */
const SHARES: ReadonlySet<string> = new Set(['qwen3', 'qwen3vl']);

/** The nearest shares to 0 and 1 whose logit is a number. */
const MIN_SHARE = Number.MIN_VALUE;
const MAX_SHARE = 1 - Number.EPSILON / 2;

/**
 * The score of a document on the scale of llama-server: what the model's head gives. The library folds it into 0 to 1 with
 * the logistic function, which this undoes; a score above 36.7 cannot be told from others above it.
 */
export function serverScore(share: number, architecture: string | null): number {
  if (architecture !== null && SHARES.has(architecture)) return share;
  const inside = Math.min(MAX_SHARE, Math.max(MIN_SHARE, share));
  return Math.fround(Math.log(inside) - Math.log1p(-inside));
}
