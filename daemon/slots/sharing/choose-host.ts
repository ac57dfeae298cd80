/**
 * What the engine of one slot does: it serves (`loaded`), it starts (`loading`), its start waits for memory (`waiting`), it
 * drains or ends (`leaving`), it failed (`failed`), or nothing runs (`none`).
 */
export type EngineStanding = 'loaded' | 'loading' | 'waiting' | 'leaving' | 'failed' | 'none';

/**
 * From best to worst. A slot that waits for memory comes before one that ends, because it loads first. A failed one comes
 * before one that was never loaded, so that slots with equal settings share its back-off.
 */
const ORDER: readonly EngineStanding[] = ['loaded', 'loading', 'waiting', 'leaving', 'failed', 'none'];

/**
 * Returns the position of the slot whose engine serves a slot: among `others`, which have equal settings, or -1 for the
 * slot itself. An own engine that runs is never left for another one. Pure.
 */
export function chooseHost(own: EngineStanding, others: readonly EngineStanding[]): number {
  if (own === 'loaded' || own === 'loading') return -1;
  let best = -1;
  let rank = ORDER.indexOf(own);
  others.forEach((standing, at) => {
    if (ORDER.indexOf(standing) >= rank) return;
    rank = ORDER.indexOf(standing);
    best = at;
  });
  return best;
}
