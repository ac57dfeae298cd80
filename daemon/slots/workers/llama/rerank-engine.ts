import type { Token } from 'node-llama-cpp';
import type { Semaphore } from '../../../lib/async/semaphore.ts';
import type { LoadWatch } from '../lifecycle.ts';
import type { WorkerConfig, WorkerInfo } from '../protocol.ts';
import { requestLimit, statsOf } from '../request-limit.ts';
import { type OpenedEncoder, openEncoder } from './embedding-load.ts';
import { mapYielding } from './map-yielding.ts';
import { type PairMarks, rerankPair, type Tokenise } from './rerank-pair.ts';
import { rawScore } from './rerank-score.ts';
import { pairMarks } from './rerank-separators.ts';
import { refuseTooLong } from './window-overflow.ts';

/** `rank` of the library joins query and document itself. Passing already joined tokens is not documented. */
interface RankingContext {
  _evaluateRankingForInput(tokens: Token[]): Promise<number>;
}

/** The score of one document: 0 to 1, and the raw output of the model's head unless that is the same. */
export interface DocumentScore {
  readonly score: number;
  readonly raw: number | null;
}

/** Scores in the order of the documents, and the number of tokens read. */
export interface Ranking {
  scores: DocumentScore[];
  tokens: number;
}

/**
 * A loaded rerank model. Requests alternate document by document, so that a long list does not block a short
 * one.
 */
export class RerankEngine {
  readonly info: WorkerInfo;
  readonly #loaded: OpenedEncoder<RankingContext>;
  readonly #marks: PairMarks;
  readonly #permits: Semaphore;
  readonly #tokenise: Tokenise = (text, marks) =>
    this.#loaded.model.tokenize(text, marks, 'trimLeadingSpace');

  private constructor(loaded: OpenedEncoder<RankingContext>, config: WorkerConfig) {
    this.#loaded = loaded;
    this.info = loaded.info;
    this.#marks = pairMarks(loaded.model);
    this.#permits = requestLimit(config.parallel, config.queueLimit);
  }

  /** Loads the model. Throws a one-line Error, also for a model without a ranking head. */
  static async load(config: WorkerConfig, watch: LoadWatch): Promise<RerankEngine> {
    const loaded = await openEncoder(config, watch, async (model, sizes) => {
      const context = await model.createRankingContext(sizes);
      return context as unknown as RankingContext;
    });
    return new RerankEngine(loaded, config);
  }

  /**
   * Scores how well each document answers the query, see {@link rawScore}. Throws 400 before any work when
   * query and document together exceed the window, 429 when the queue is full, and the signal's reason when
   * the caller disconnects.
   */
  async rank(query: string, documents: readonly string[], signal: AbortSignal): Promise<Ranking> {
    const { context } = this.#loaded;
    return this.#permits.run(signal, async () => {
      const pairs = await mapYielding(documents, signal, (text, index) => {
        const tokens = rerankPair(query, text, this.#marks, this.#tokenise);
        refuseTooLong(`documents[${index}]`, tokens.length, this.info);
        return tokens;
      });
      const scores: DocumentScore[] = [];
      for (const tokens of pairs) {
        signal.throwIfAborted();
        const score = await context._evaluateRankingForInput(tokens as Token[]);
        scores.push({ score, raw: rawScore(score, this.info.architecture) });
      }
      return { scores, tokens: pairs.reduce((sum, { length }) => sum + length, 0) };
    });
  }

  stats(): { active: number; queued: number; tokens_generated: number } {
    return statsOf(this.#permits);
  }

  /** Frees the native memory. No request may be running. */
  async dispose(): Promise<void> {
    await this.#loaded.llama.dispose();
  }
}
