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

/** Memories in one call of the model, and in one pass over the store. */
const BATCH = 16;
const MAX_PER_PASS = 10_000;
const LIMIT_MS = 60_000;
/** Beyond this the load is given up; where `slots.load_wait_s` is shorter, that comes first. */
const LOAD_LIMIT_MS = 900_000;
/** The beginning of a text tells what it is about; more than this in characters is not embedded. */
const MAX_TEXT_LENGTH = 2_000;
const EMPTY = Buffer.alloc(0);

/**
 * Gives memories their vectors in the background, one pass at a time, while an embedding model is loaded anyway. A model
 * that is changed makes all of them anew.
 */
export class Indexer {
  readonly #deps: IndexerDeps;
  readonly #stopControl = new AbortController();
  #pass: Promise<void> | null = null;

  constructor(deps: IndexerDeps) {
    this.#deps = deps;
  }

  /** Begins a pass unless one goes on; never throws, loads nothing. */
  wake(tier: Tier): void {
    if (this.#deps.embedder.current()?.loaded) this.#startPass(() => this.#runPass(tier));
  }

  /** Has the model loaded, and then begins a pass, unless one goes on; never throws. */
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
      .catch((err: unknown) => this.#deps.log.debug({ err }, 'memories got no vectors'))
      .finally(() => {
        this.#pass = null;
      });
  }

  /** Resolves when no pass goes on. */
  async idle(): Promise<void> {
    await this.#pass;
  }

  /** Ends the pass that goes on. */
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

  /** One batch; what a model refuses together is tried one by one, and what it refuses alone is left without a vector. */
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

/** The model cannot take this text, now or later: it is too long for its window, or no input for it. */
const refusesText = (error: unknown): boolean =>
  error instanceof GatewayError && [400, 413, 422].includes(error.status);
