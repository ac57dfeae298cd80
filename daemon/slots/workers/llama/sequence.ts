import type { LlamaGrammarEvaluationState, TokenBias } from 'node-llama-cpp';
import type { Sampling } from './sampling.ts';

/** How the tokens of one answer are chosen. */
export interface SampleOptions {
  sampling: Sampling;
  /** 32 bits. The same seed repeats the same answer. */
  seed: number;
  bias: TokenBias | null;
  /** Tokens must match the grammar while the gate is open. */
  grammar: { state: LlamaGrammarEvaluationState; gate: { readonly open: boolean } } | null;
  /** True: returns each token with the probabilities of its position. */
  probabilities: boolean;
}

export interface Sampled {
  token: number;
  /** Best first. Null when not requested. */
  probabilities: ReadonlyMap<number, number> | null;
}

/** One part of the context that holds one conversation at a time. */
export interface Sequence {
  /** Number of tokens that fit. The last one cannot be continued. */
  readonly window: number;
  /** Tokens evaluated so far. */
  readonly position: number;
  /**
   * Drops everything that is not a prefix of `tokens`, at least the last token. Returns the number of kept
   * tokens.
   */
  keepPrefix(tokens: readonly number[]): Promise<number>;
  /** Evaluates without sampling. Returns the engine's time in ms. */
  evaluate(tokens: readonly number[]): Promise<number>;
  /** Evaluates `tokens`, then samples while the iterator is read. */
  sample(tokens: readonly number[], options: SampleOptions): AsyncIterable<Sampled>;
}
