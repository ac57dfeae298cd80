import type { LlamaGrammarEvaluationState, TokenBias } from 'node-llama-cpp';
import type { Sampling } from './sampling.ts';

/** How the tokens of one answer are chosen. */
export interface SampleOptions {
  sampling: Sampling;
  /** 32 bits; the same ones repeat the same answer. */
  seed: number;
  bias: TokenBias | null;
  /** Tokens must fit the grammar while the gate is open. */
  grammar: { state: LlamaGrammarEvaluationState; gate: { readonly open: boolean } } | null;
  /** True: each token comes with the probabilities of its place. */
  probabilities: boolean;
}

export interface Sampled {
  token: number;
  /** Best first; null when not asked for. */
  probabilities: ReadonlyMap<number, number> | null;
}

/** One slice of the context that holds one conversation at a time. */
export interface Sequence {
  /** Tokens that fit, the last of which cannot be continued. */
  readonly window: number;
  /** Tokens evaluated so far. */
  readonly position: number;
  /** Drops all that is not a prefix of `tokens`, at least the last token; answers how many are kept. */
  keepPrefix(tokens: readonly number[]): Promise<number>;
  /** Evaluates without sampling; answers how many ms the engine took for it. */
  evaluate(tokens: readonly number[]): Promise<number>;
  /** Evaluates `tokens`, then samples for as long as it is asked for more. */
  sample(tokens: readonly number[], options: SampleOptions): AsyncIterable<Sampled>;
}
