import type { LoadDecision } from './eviction.ts';

/**
 * Returns the cost of a decision, lower is better: 0 starts now, 1 waits for newer figures, 2 waits for idle slots,
 * 3 waits for busy slots, 4 never fits.
 */
function rank({ kind, ...decision }: LoadDecision): number {
  if (kind === 'start') return 0;
  if (kind === 'refuse' || !('for' in decision)) return 4;
  if (decision.for.length === 0) return 1;
  return decision.for.every((slot) => decision.evict.includes(slot)) ? 2 : 3;
}

/**
 * Returns the device on which a load does best by the decision that admission would take; of equal ones the first.
 * A load that already waits stays with its pool unless it can start elsewhere, because other slots leave that pool
 * for it. Pure except for `decide`.
 */
export function chooseDevice<R extends { readonly pool: string }>(
  candidates: readonly [R, ...R[]],
  decide: (headroom: R) => LoadDecision,
  waitingPool: string | null,
): R {
  const ranked = candidates.map((headroom) => ({ headroom, rank: rank(decide(headroom)) }));
  const best = ranked.reduce((found, one) => (one.rank < found.rank ? one : found));
  const waiting = ranked.find(({ headroom }) => headroom.pool === waitingPool);
  return best.rank > 0 && waiting !== undefined && waiting.rank < 4 ? waiting.headroom : best.headroom;
}
