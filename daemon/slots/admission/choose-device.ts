import type { LoadDecision } from './eviction.ts';

/** How soon a load runs and whom it costs: at once, once figures have settled, for idle ones, for busy ones, never. */
function rank({ kind, ...decision }: LoadDecision): number {
  if (kind === 'start') return 0;
  if (kind === 'refuse' || !('for' in decision)) return 4;
  if (decision.for.length === 0) return 1;
  return decision.for.every((slot) => decision.evict.includes(slot)) ? 2 : 3;
}

/**
 * The room, of several that may each hold a model, where its load does best by what admission would decide; the first of
 * those that are alike. A load that waits already stays with the pool that others leave for it, unless it can start in
 * another one. Pure but for `decide`.
 */
export function chooseDevice<R extends { readonly pool: string }>(
  candidates: readonly [R, ...R[]],
  decide: (headroom: R) => LoadDecision,
  waitingPool: string | null,
): R {
  const ranked = candidates.map((headroom) => ({ room: headroom, rank: rank(decide(headroom)) }));
  const best = ranked.reduce((found, one) => (one.rank < found.rank ? one : found));
  const waiting = ranked.find(({ room: headroom }) => headroom.pool === waitingPool);
  return best.rank > 0 && waiting !== undefined && waiting.rank < 4 ? waiting.room : best.room;
}
