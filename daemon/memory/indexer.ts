import type { Tier } from '../contract/auth.ts';
import { GatewayError } from '../contract/errors.ts';
import type { Log } from '../lib/log.ts';
import type { MemoryVectors, PendingMemory } from '../store/memory-vectors.ts';
import type { Embedder } from './embedder.ts';
import { storedVector } from './vector.ts';

export interface IndexerDeps {
  readonly vectors: MemoryVectors;
  readonly embedder: Embedder;
  readonly log: Pick<Log, 'debug'>;
}

/** Memories per call of the model, and per pass over the store. */
const BATCH = 16;
const MAX_PER_PASS = 10_000;
const LIMIT_MS = 60_000;
/** Maximum time of a load; a shorter `slots.load_wait_s` takes precedence. */
const LOAD_LIMIT_MS = 900_000;
/** Maximum characters that are embedded: the beginning of a text shows its subject. */
const MAX_TEXT_LENGTH = 2_000;
const EMPTY = Buffer.alloc(0);

/**
 * Embeds memories in the background, one pass at a time, while an embedding model is loaded. A change of the
 * model embeds all of them again.
 */
export class Indexer {
  readonly #deps: IndexerDeps;
  readonly #stopControl = new AbortController();
  #pass: Promise<void> | null = null;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
  }

  /** Starts a pass unless one is running. Never throws, loads nothing. */
  wake(tier: Tier): void {
    if (this.#deps.embedder.current()?.loaded) this.#startPass(() => this.#runPass(tier));
  }

  /** Loads the model and starts a pass, unless one is running. Never throws. */
  load(tier: Tier): void {
    this.#startPass(async () => {
      const { signal } = this.#stopControl;
      await this.#deps.embedder.embed({
        texts: ['.'],
        tier,
        signal,
        limitMs: LOAD_LIMIT_MS,
        background: true,
      });
      await this.#runPass(tier);
    });
  }

  #startPass(work: () => Promise<void>): void {
    if (this.#pass !== null || this.#stopControl.signal.aborted) return;
    this.#pass = work()
      .catch((err: unknown) => this.#deps.log.debug({ err }, 'notes could not be embedded'))
      .finally(() => {
        this.#pass = null;
      });
  }

  /** Resolves when no pass is running. */
  async idle(): Promise<void> {
    await this.#pass;
  }

  /** Stops the running pass. */
  async stop(): Promise<void> {
    this.#stopControl.abort(new GatewayError('slot.draining'));
    await this.#pass;
  }

  async #runPass(tier: Tier): Promise<void> {
    const { vectors, embedder } = this.#deps;
    let after = 0;
    for (let done = 0; done < MAX_PER_PASS; done += BATCH) {
      const now = embedder.current();
      if (!now?.loaded || this.#stopControl.signal.aborted) return;
      const batch = vectors.pending(now.model, after, BATCH);
      const last = batch.at(-1);
      if (last === undefined) return;
      await this.#embed(now.model, batch, tier);
      after = last.seq;
    }
  }

  /**
   * Embeds one batch. Retries a refused batch one by one, and stores no vector for a text that is refused
   * alone.
   */
  async #embed(model: string, batch: readonly PendingMemory[], tier: Tier): Promise<void> {
    const { vectors, embedder } = this.#deps;
    const texts = batch.map(({ text }) => text.slice(0, MAX_TEXT_LENGTH).toWellFormed());
    const signal = this.#stopControl.signal;
    try {
      const made = await embedder.embed({ texts, tier, signal, limitMs: LIMIT_MS, background: true });
      const rows = batch.map(({ seq }, i) => ({ seq, vector: storedVector(made.vectors[i] ?? []) ?? EMPTY }));
      vectors.put(made.model, rows);
    } catch (error) {
      if (!refusesText(error)) throw error;
      if (batch.length === 1) vectors.put(model, [{ seq: batch[0]?.seq ?? 0, vector: EMPTY }]);
      else for (const each of batch) await this.#embed(model, [each], tier);
    }
  }
}

/** Returns whether the model rejects this text permanently: too long for its window, or invalid input. */
const refusesText = (error: unknown): boolean =>
  error instanceof GatewayError && [400, 413, 422].includes(error.status);
