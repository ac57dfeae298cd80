import type { LlamaEmbeddingContext, Token } from 'node-llama-cpp';
import type { Semaphore } from '../../../lib/async/semaphore.ts';
import type { LoadWatch } from '../lifecycle.ts';
import type { WorkerConfig, WorkerInfo } from '../protocol.ts';
import { invalidField } from '../refusal.ts';
import { requestLimit, statsOf } from '../request-limit.ts';
import { type OpenedEncoder, openEncoder } from './embedding-load.ts';
import { poolingOf } from './embedding-pooling.ts';
import type { EmbeddingInput } from './embedding-request.ts';
import { normalised } from './embedding-vector.ts';
import { emptyTextMark } from './empty-text-token.ts';
import { mapYielding } from './map-yielding.ts';
import { refuseTooLong } from './window-overflow.ts';

/** Vectors of length 1 in the order of the texts, and the number of tokens read. */
export interface Embeddings {
  vectors: Float32Array[];
  tokens: number;
}

/**
 * A loaded embedding model. Requests alternate text by text, so that a long list does not block a short one.
 */
export class EmbeddingEngine {
  readonly info: WorkerInfo;
  readonly #loaded: OpenedEncoder<LlamaEmbeddingContext>;
  readonly #permits: Semaphore;
  readonly #vocabulary: number;

  private constructor(loaded: OpenedEncoder<LlamaEmbeddingContext>, config: WorkerConfig) {
    this.#loaded = loaded;
    this.info = loaded.info;
    this.#permits = requestLimit(config.parallel, config.queueLimit);
    this.#vocabulary = loaded.model.fileInfo.metadata.tokenizer?.ggml?.tokens?.length ?? 0;
  }

  /** Loads the model. Throws a one-line Error, also for a file that does not state its pooling. */
  static async load(config: WorkerConfig, watch: LoadWatch): Promise<EmbeddingEngine> {
    const loaded = await openEncoder(config, watch, (model, sizes) => {
      poolingOf(model.fileInfo.metadata);
      return model.createEmbeddingContext(sizes);
    });
    return new EmbeddingEngine(loaded, config);
  }

  /** Length of every vector. */
  get dimensions(): number {
    return this.#loaded.model.embeddingVectorSize;
  }

  /**
   * Returns one vector per text. Throws 400 before any work when a text exceeds the window or a token is
   * unknown, 429 when the queue is full, and the signal's reason when the caller disconnects.
   */
  async embed(inputs: readonly EmbeddingInput[], signal: AbortSignal): Promise<Embeddings> {
    return this.#permits.run(signal, async () => {
      const texts = await mapYielding(inputs, signal, (input, index) =>
        this.#tokens(input, inputs.length === 1 ? 'input' : `input[${index}]`),
      );
      const vectors: Float32Array[] = [];
      for (const { tokens } of texts) {
        signal.throwIfAborted();
        const { vector } = await this.#loaded.context.getEmbeddingFor(tokens);
        vectors.push(normalised(vector));
      }
      return { vectors, tokens: texts.reduce((sum, { length }) => sum + length, 0) };
    });
  }

  stats(): { active: number; queued: number; tokens_generated: number } {
    return statsOf(this.#permits);
  }

  /** Frees the native memory. No request may be running. */
  async dispose(): Promise<void> {
    await this.#loaded.llama.dispose();
  }

  #tokens(input: EmbeddingInput, place: string): { tokens: Token[]; length: number } {
    const { model, context } = this.#loaded;
    const read = typeof input === 'string' ? model.tokenize(input) : known(input, this.#vocabulary, place);
    const lengthOf = (some: readonly Token[]) => context.calculateInputLength([...some]);
    const { bos, sep, eos } = model.tokens;
    const tokens = read.length > 0 ? read : [emptyTextMark([bos, sep, eos], lengthOf, place)];
    const length = lengthOf(tokens);
    refuseTooLong(place, length, this.info);
    return { tokens, length };
  }
}

/** Throws for a token outside the vocabulary, which would crash the process. */
function known(tokens: readonly number[], vocabulary: number, place: string): Token[] {
  const unknown = tokens.find((token) => token >= vocabulary);
  if (unknown === undefined) return tokens as Token[];
  throw invalidField(
    'input',
    `${place}: this model has the tokens 0 to ${vocabulary - 1}, and no ${unknown}`,
  );
}
