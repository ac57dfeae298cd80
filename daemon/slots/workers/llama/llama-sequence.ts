import type {
  EvaluationPriority,
  LlamaContextSequence,
  SequenceEvaluateOptions,
  Token,
} from 'node-llama-cpp';
import { seededRandom } from '../../../lib/seeded-random.ts';
import { sequencePriority } from './batch-plan.ts';
import type { DecodeBarrier, Member } from './decode-barrier.ts';
import { NgramPredictor } from './ngram-predictor.ts';
import { createSampler } from './sampler.ts';
import type { Sampled, SampleOptions, Sequence } from './sequence.ts';
import type { StatefulSequence } from './state-store.ts';

/** Adapts one sequence of the library to the interface that generation needs. */
export class LlamaSequence implements Sequence, StatefulSequence {
  readonly #inner: LlamaContextSequence;
  readonly #barrier: DecodeBarrier;
  readonly #place: EvaluationPriority;
  #predictor: NgramPredictor | null;
  #member: Member | null = null;
  #recent: number[] = [];
  /** Number of tokens that the penalties look back at; 0 without penalties. */
  #penaltyWindow = 0;

  /**
   * `number` is the index of the sequence in its context, from 0. All sequences of a context share one `barrier`.
   * Predicts `ngramTokens` tokens at once; 0: none.
   */
  constructor(
    inner: LlamaContextSequence,
    { number, barrier, ngramTokens }: { number: number; barrier: DecodeBarrier; ngramTokens: number },
  ) {
    this.#inner = inner;
    this.#predictor = ngramTokens > 0 ? new NgramPredictor(ngramTokens) : null;
    setPredictor(inner, this.#predictor);
    this.#place = sequencePriority(number);
    this.#barrier = barrier;
  }

  get window(): number {
    return this.#inner.contextSize;
  }

  get position(): number {
    return this.#inner.nextTokenIndex;
  }

  get tokens(): readonly number[] {
    return this.#inner.contextTokens;
  }

  get mustMatchWhole(): boolean {
    return this.#inner.needsCheckpoints;
  }

  /** Returns the number of leading tokens that this sequence shares with `tokens`. */
  shared(tokens: readonly number[]): number {
    return this.#inner.compareContextTokens(tokens as Token[]).firstDifferentIndex;
  }

  async keepPrefix(tokens: readonly number[]): Promise<number> {
    this.#recent = tokens.slice(-MAX_RECENT_TOKENS);
    const keep = Math.min(this.shared(tokens), tokens.length - 1);
    if (keep < this.position) {
      await this.#inner.eraseContextTokenRanges([{ start: keep, end: this.position }]);
    }
    return this.position;
  }

  /** Sets the number of tokens that the next requests predict at once. The sequence keeps what it holds. */
  async predict(ngramTokens: number): Promise<void> {
    if (ngramTokens > 0 === (this.#predictor !== null)) return;
    await this.settle();
    this.#predictor = ngramTokens > 0 ? new NgramPredictor(ngramTokens) : null;
    setPredictor(this.#inner, this.#predictor);
  }

  /** Joins the decode barrier until `leave` is called. */
  enter(): void {
    this.#member = this.#barrier.join();
  }

  leave(): void {
    this.#member?.leave();
    this.#member = null;
  }

  async evaluate(tokens: readonly number[]): Promise<number> {
    let startedAt = 0;
    await this.#inStep(() => {
      startedAt = performance.now();
      return this.#inner.evaluateWithoutGeneratingNewTokens(tokens as Token[], {
        evaluationPriority: this.#place,
      });
    });
    return performance.now() - startedAt;
  }

  sample(tokens: readonly number[], options: SampleOptions): AsyncIterable<Sampled> {
    this.#predictor?.begin([...this.#inner.contextTokens, ...tokens], options);
    const wantsProbabilities = options.probabilities || options.sampling.typicalP < 1;
    return wantsProbabilities ? this.#sampleWithProbabilities(tokens, options) : this.#run(tokens, options);
  }

  /** Clears the sequence, so that a failed evaluation leaves no state. */
  async reset(): Promise<void> {
    await this.#inner.clearHistory();
  }

  async settle(): Promise<void> {
    const end = this.position;
    // Predictions that were not used are still in the state. The library removes them with the token before.
    if (this.#predictor !== null && end > 0)
      await this.#inner.eraseContextTokenRanges([{ start: end - 1, end }]);
  }

  async saveState(path: string): Promise<void> {
    await this.#inner.saveStateToFile(path);
  }

  async loadState(path: string): Promise<void> {
    // Also drops the checkpoints of what the sequence held before.
    await this.#inner.clearHistory();
    await this.#inner.loadStateFromFile(path, { acceptRisk: true });
    await this.#inner.takeCheckpoint();
  }

  async *#run(tokens: readonly number[], options: SampleOptions): AsyncGenerator<Sampled> {
    const places = this.#inner.evaluate(tokens as Token[], this.#native(options));
    try {
      for (;;) {
        const { done, value: token } = await this.#inStep(() => places.next());
        if (done) return;
        this.#remember(token);
        yield { token, probabilities: null };
      }
    } finally {
      await places.return();
    }
  }

  /**
   * Samples with probabilities. The library returns the probabilities that remain after its samplers, so they
   * are configured to keep all tokens and the token is chosen here. Under a grammar the engine must choose;
   * then the probabilities of the remaining tokens are returned.
   */
  async *#sampleWithProbabilities(
    tokens: readonly number[],
    options: SampleOptions,
  ): AsyncGenerator<Sampled> {
    const chooses = options.grammar === null;
    const native = this.#native(options);
    const draw = createSampler(options.sampling, seededRandom(options.seed));
    const places = this.#inner.evaluateWithMetadata(
      tokens as Token[],
      { probabilities: true },
      chooses ? { ...native, temperature: 0 } : native,
    );
    try {
      let place = await this.#inStep(() => places.next());
      while (!place.done) {
        const { probabilities } = place.value;
        const token = chooses ? draw(probabilities) : place.value.token;
        this.#remember(token);
        yield { token, probabilities };
        place = await this.#inStep(() => places.next(token as Token));
      }
    } finally {
      await places.return();
    }
  }

  #inStep<T>(run: () => Promise<T>): Promise<T> {
    return this.#member === null ? run() : this.#member.next(run);
  }

  #native({ sampling, seed, bias, grammar }: SampleOptions): SequenceEvaluateOptions {
    const { repeatPenalty, presencePenalty, frequencyPenalty, repeatLast, xtc, dry } = sampling;
    const penalised =
      repeatLast > 0 && (repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0);
    this.#penaltyWindow = penalised ? repeatLast : 0;
    this.#recent = this.#penaltyWindow === 0 ? [] : this.#recent.slice(-this.#penaltyWindow);
    return {
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      minP: sampling.minP,
      seed,
      yieldEogToken: true,
      evaluationPriority: this.#place,
      ...(bias === null ? {} : { tokenBias: bias }),
      ...(xtc === null ? {} : { xtc }),
      ...(dry === null
        ? {}
        : { dryRepeatPenalty: present({ ...dry, lastTokens: dry.lastTokens ?? this.window }) }),
      ...(grammar === null
        ? {}
        : { grammarEvaluationState: () => (grammar.gate.open ? grammar.state : undefined) }),
      ...(penalised
        ? {
            repeatPenalty: {
              penalty: repeatPenalty,
              presencePenalty,
              frequencyPenalty,
              maxPunishTokens: repeatLast,
              punishTokens: () => this.#recent as Token[],
            },
          }
        : {}),
    };
  }

  #remember(token: number): void {
    if (this.#penaltyWindow === 0) return;
    this.#recent.push(token);
    if (this.#recent.length > this.#penaltyWindow) this.#recent.shift();
  }
}

/**
 * Sets the predictor of a sequence. The library accepts one only when it creates the sequence, but reads it at the start of
 * each evaluation. A new sequence would be empty.
 */
function setPredictor(sequence: LlamaContextSequence, predictor: NgramPredictor | null): void {
  Object.assign(sequence, { _tokenPredictor: predictor ?? undefined });
}

/** The maximum number of tokens that a request can look back at. */
const MAX_RECENT_TOKENS = 1_024;

/** Returns the object without undefined fields. */
function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
