import { setImmediate } from 'node:timers/promises';
import type { MemoryVectors } from '../store/memory-vectors.ts';
import { similarity, vectorOf } from './vector.ts';

/** Vectors compared before yielding to the event loop. */
const PAGE = 250;

/**
 * Returns the ids of the memories nearest to a vector of this model, best first. Compares all of them, page
 * by page.
 */
export async function nearest(
  vectors: MemoryVectors,
  model: string,
  query: Float32Array,
  limit: number,
): Promise<string[]> {
  let best: { id: string; score: number }[] = [];
  let after = 0;
  for (;;) {
    const page = vectors.page(model, after, PAGE);
    for (const { id, vector } of page) {
      const near = similarity(query, vectorOf(vector));
      if (near > 0) best.push({ id, score: near });
    }
    best = best.sort((a, b) => b.score - a.score).slice(0, limit);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return best.map(({ id }) => id);
    after = last.seq;
    await setImmediate();
  }
}
