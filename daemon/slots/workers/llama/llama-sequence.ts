import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from 'node-llama-cpp';
import type { Sequence } from './generate.ts';
import type { Sampling } from './request.ts';

/** Tokens that penalties look back at, as llama-server does. */
const PENALTY_WINDOW = 64;

/** One sequence of the library behind the small interface that generation needs. */
export class LlamaSequence implements Sequence {
  readonly #inner: LlamaContextSequence;
  #recent: number[] = [];

  constructor(inner: LlamaContextSequence) {
    this.#inner = inner;
  }

  get window(): number {
    return this.#inner.contextSize;
  }

  get position(): number {
    return this.#inner.nextTokenIndex;
  }

  /** Leading tokens that this sequence and `tokens` have in common. */
  shared(tokens: readonly number[]): number {
    return this.#inner.compareContextTokens(tokens as Token[]).firstDifferentIndex;
  }

  async keepPrefix(tokens: readonly number[]): Promise<number> {
    this.#recent = tokens.slice(-PENALTY_WINDOW);
    const keep = Math.min(this.shared(tokens), tokens.length - 1);
    if (keep < this.position) {
      await this.#inner.eraseContextTokenRanges([{ start: keep, end: this.position }]);
    }
    return this.position;
  }

  async evaluate(tokens: readonly number[]): Promise<void> {
    await this.#inner.evaluateWithoutGeneratingNewTokens(tokens as Token[]);
  }

  sample(tokens: readonly number[], sampling: Sampling): AsyncIterable<number> {
    const options: SequenceEvaluateOptions = {
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      minP: sampling.minP,
      seed: sampling.seed ?? Math.floor(Math.random() * 2 ** 32),
      yieldEogToken: true,
    };
    const { repeatPenalty, presencePenalty, frequencyPenalty } = sampling;
    if (repeatPenalty === 1 && presencePenalty === 0 && frequencyPenalty === 0) {
      return this.#inner.evaluate(tokens as Token[], options);
    }
    return this.#samplePenalised(tokens, {
      ...options,
      repeatPenalty: {
        penalty: repeatPenalty,
        presencePenalty,
        frequencyPenalty,
        maxPunishTokens: PENALTY_WINDOW,
        punishTokens: () => this.#recent as Token[],
      },
    });
  }

  /** Forgets everything, so that a failed evaluation leaves nothing behind. */
  async reset(): Promise<void> {
    await this.#inner.clearHistory();
  }

  async *#samplePenalised(
    tokens: readonly number[],
    options: SequenceEvaluateOptions,
  ): AsyncGenerator<number> {
    for await (const token of this.#inner.evaluate(tokens as Token[], options)) {
      this.#recent.push(token);
      if (this.#recent.length > PENALTY_WINDOW) this.#recent.shift();
      yield token;
    }
  }
}
