import type { Sampling } from './sampling.ts';

/** Selects one of several tokens. */
export type TokenSampler = (probabilities: ReadonlyMap<number, number>) => number;

/**
 * Samples from a whole vocabulary (best first) like llama.cpp's samplers, in their order: `top_k`,
 * `typical_p`, `top_p`, `min_p`, then temperature. Temperature 0 selects the first token.
 */
export function createSampler(sampling: Sampling, random: () => number): TokenSampler {
  const { temperature, topK, topP, minP, typicalP } = sampling;
  return (probabilities) => {
    const best = probabilities.entries().next().value;
    if (best === undefined) throw new Error('there is no token to choose');
    if (temperature <= 0) return best[0];
    const pool = typicalP < 1 ? typical(probabilities, topK, typicalP) : probabilities;
    const [first, highest] = pool.entries().next().value ?? best;
    const ids: number[] = [];
    const weights: number[] = [];
    let sum = 0;
    let total = 0;
    const mass = topK > 0 || typicalP < 1 ? leading(pool, topK > 0 ? topK : pool.size) : 1;
    for (const [id, probability] of pool) {
      const full = (topK > 0 && ids.length >= topK) || (topP < 1 && sum >= topP * mass);
      if (ids.length > 0 && (full || probability < minP * highest)) break;
      sum += probability;
      const weight = (probability / highest) ** (1 / temperature);
      ids.push(id);
      weights.push(weight);
      total += weight;
    }
    let left = random() * total;
    const chosen = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return ids[chosen] ?? first;
  };
}

/**
 * Of the first `topK` tokens (0: all), returns those whose surprisal is nearest to the expected one, until
 * they reach `share` of the probability (locally typical sampling, arXiv 2202.00666). Best first.
 */
export function typical(
  probabilities: ReadonlyMap<number, number>,
  topK: number,
  share: number,
): ReadonlyMap<number, number> {
  const count = topK > 0 ? topK : probabilities.size;
  const mass = leading(probabilities, count);
  const all: { id: number; probability: number; surprise: number }[] = [];
  let expected = 0;
  for (const [id, probability] of probabilities) {
    if (all.length >= count || probability <= 0) break;
    const surprise = -Math.log(probability / mass);
    expected += (probability / mass) * surprise;
    all.push({ id, probability, surprise });
  }
  const nearest = [...all].sort((a, b) => Math.abs(a.surprise - expected) - Math.abs(b.surprise - expected));
  const chosen = new Set<number>();
  let sum = 0;
  for (const { id, probability } of nearest) {
    if (chosen.size > 0 && sum > share * mass) break;
    chosen.add(id);
    sum += probability;
  }
  return new Map(all.filter(({ id }) => chosen.has(id)).map(({ id, probability }) => [id, probability]));
}

/** Sums the first `count` probabilities. */
function leading(probabilities: ReadonlyMap<number, number>, count: number): number {
  let sum = 0;
  let tokenCount = 0;
  for (const probability of probabilities.values()) {
    if (tokenCount++ >= count) break;
    sum += probability;
  }
  return sum;
}
