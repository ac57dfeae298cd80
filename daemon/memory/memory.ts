import type { Tier } from '../contract/auth.ts';
import type { MemoryFound, MemoryRecord } from '../contract/system.ts';
import type { Log } from '../lib/log.ts';
import type { MemoryRepo } from '../store/memory.ts';
import type { Embedder } from './embedder.ts';
import { fuse } from './fuse.ts';
import { Indexer } from './indexer.ts';
import { nearest } from './nearest.ts';
import { storedVector, vectorOf } from './vector.ts';

/**
 * Stored memories with text search and, if an embedding model exists, semantic search
 * (docs/spec/contract.md#route-memory).
 */
export interface Memory extends Pick<MemoryRepo, 'list' | 'get' | 'remove' | 'removeMany' | 'removeAll'> {
  /** Throws `memory.full`, `store.unavailable`. */
  add(text: string, tags: readonly string[], tier: Tier): MemoryRecord;
  /**
   * Returns the best matches first. Uses text search only when no embedding model is loaded or it takes
   * longer than two seconds; the model is then loaded for the next search.
   */
  search(query: string, limit: number, caller: { tier: Tier; signal: AbortSignal }): Promise<MemoryFound>;
  /** Resolves when no background embedding is running. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export interface MemoryDeps {
  readonly repo: MemoryRepo;
  readonly embedder: Embedder;
  readonly log: Pick<Log, 'debug'>;
}

/** Maximum wait for the embedding of a query, in milliseconds. */
const QUERY_LIMIT_MS = 2_000;
/** Number of ranks of each list that are merged. */
const RANKED_COUNT = 100;

export function createMemory({ repo, embedder, log }: MemoryDeps): Memory {
  const indexer = new Indexer({ vectors: repo.vectors, embedder, log });

  /** Returns ids by semantic search; null when no model was ready in time. */
  async function searchByVector(query: string, tier: Tier, signal: AbortSignal): Promise<string[] | null> {
    const now = embedder.current();
    if (now === null) return null;
    if (!now.loaded) {
      indexer.load(tier);
      return null;
    }
    try {
      const request = { texts: [query], tier, signal, limitMs: QUERY_LIMIT_MS, background: false };
      const { model, vectors } = await embedder.embed(request);
      const stored = storedVector(vectors[0] ?? []);
      return stored === null ? null : await nearest(repo.vectors, model, vectorOf(stored), RANKED_COUNT);
    } catch (err) {
      signal.throwIfAborted();
      log.debug({ err }, 'a note search uses keywords only');
      return null;
    }
  }

  return {
    list: repo.list,
    get: repo.get,
    remove: repo.remove,
    removeMany: repo.removeMany,
    removeAll: repo.removeAll,
    idle: () => indexer.idle(),
    stop: () => indexer.stop(),
    add(text, tags, tier) {
      const added = repo.add(text, tags);
      indexer.wake(tier);
      return added;
    },
    async search(query, limit, { tier, signal }) {
      const near = await searchByVector(query, tier, signal);
      indexer.wake(tier);
      if (near === null) return { mode: 'words', memories: repo.search(query, limit) };
      const words = repo.search(query, RANKED_COUNT).map(({ id }) => id);
      const memories = fuse([words, near])
        .slice(0, limit)
        .flatMap(({ id, score }) => {
          const found = repo.get(id);
          return found === null ? [] : [{ ...found, score }];
        });
      return { mode: 'hybrid', memories };
    },
  };
}
