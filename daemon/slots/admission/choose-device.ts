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
export function chooseRoom<R extends { readonly pool: string }>(
  rooms: readonly [R, ...R[]],
  decide: (room: R) => LoadDecision,
  waitsFor: string | null,
): R {
  const ranked = rooms.map((room) => ({ room, rank: rank(decide(room)) }));
  const best = ranked.reduce((found, one) => (one.rank < found.rank ? one : found));
  const kept = ranked.find(({ room }) => room.pool === waitsFor);
  return best.rank > 0 && kept !== undefined && kept.rank < 4 ? kept.room : best.room;
}
