/** Dampens the first ranks (Cormack, Clarke and Büttcher 2009, "Reciprocal Rank Fusion"). */
const K = 60;

/**
 * Merges ranked lists of ids, best first: each list contributes 1 / (60 + rank). Ties keep the order of the
 * lists.
 */
export function fuse(lists: readonly (readonly string[])[]): { id: string; score: number }[] {
  const scores = new Map<string, number>();
  for (const list of lists)
    for (const [rank, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (K + rank + 1));
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}
