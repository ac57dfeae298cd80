import type { Sampling } from './sampling.ts';

/** Chooses one of several tokens. */
export type Draw = (probabilities: ReadonlyMap<number, number>) => number;

/**
 * Draws from a whole vocabulary (best first) as the engine's own samplers do: the first `top_k`, of these as many as reach
 * `top_p`, of these those not far below the best (`min_p`), then by temperature. At temperature 0 the first.
 */
export function drawer({ temperature, topK, topP, minP }: Sampling, random: () => number): Draw {
  return (probabilities) => {
    const best = probabilities.entries().next().value;
    if (best === undefined) throw new Error('there is no token to choose');
    const [first, highest] = best;
    if (temperature <= 0) return first;
    const ids: number[] = [];
    const weights: number[] = [];
    let sum = 0;
    let total = 0;
    const mass = topK > 0 ? leading(probabilities, topK) : 1;
    for (const [id, probability] of probabilities) {
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

/** Together, the first `count` of them. */
function leading(probabilities: ReadonlyMap<number, number>, count: number): number {
  let sum = 0;
  let seen = 0;
  for (const probability of probabilities.values()) {
    if (seen++ >= count) break;
    sum += probability;
  }
  return sum;
}
