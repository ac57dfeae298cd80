import type {
  EvaluationPriority,
  LlamaContextSequence,
  SequenceEvaluateOptions,
  Token,
} from 'node-llama-cpp';
import { seededRandom } from '../../../models/gguf/random.ts';
import { placeOf } from './batch-plan.ts';
import type { Lockstep, Member } from './decode-barrier.ts';
import { drawer } from './sampler.ts';
import type { Sampled, SampleOptions, Sequence } from './sequence.ts';

/** One sequence of the library behind the small interface that generation needs. */
export class LlamaSequence implements Sequence {
  readonly #inner: LlamaContextSequence;
  readonly #lockstep: Lockstep;
  readonly #place: EvaluationPriority;
  #member: Member | null = null;
  #recent: number[] = [];
  /** Tokens that the penalties look back at; 0 when there are none. */
  #lookBack = 0;

  /** `number`: its place among the sequences of the context, from 0; `lockstep` is that of the context, one for all. */
  constructor(inner: LlamaContextSequence, number: number, lockstep: Lockstep) {
    this.#inner = inner;
    this.#place = placeOf(number);
    this.#lockstep = lockstep;
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
    this.#recent = tokens.slice(-RECENT_MOST);
    const keep = Math.min(this.shared(tokens), tokens.length - 1);
    if (keep < this.position) {
      await this.#inner.eraseContextTokenRanges([{ start: keep, end: this.position }]);
    }
    return this.position;
  }

  /** From here to `leave` it is in step with the other sequences that are in use. */
  enter(): void {
    this.#member = this.#lockstep.join();
  }

  leave(): void {
    this.#member?.leave();
    this.#member = null;
  }

  async evaluate(tokens: readonly number[]): Promise<number> {
    let begun = 0;
    await this.#inStep(() => {
      begun = performance.now();
      return this.#inner.evaluateWithoutGeneratingNewTokens(tokens as Token[], {
        evaluationPriority: this.#place,
      });
    });
    return performance.now() - begun;
  }

  sample(tokens: readonly number[], options: SampleOptions): AsyncIterable<Sampled> {
    const told = options.probabilities || options.sampling.typicalP < 1;
    return told ? this.#tell(tokens, options) : this.#run(tokens, options);
  }

  /** Forgets everything, so that a failed evaluation leaves nothing behind. */
  async reset(): Promise<void> {
    await this.#inner.clearHistory();
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
   * The library tells probabilities of the tokens that its samplers have left. So they are asked to leave all, and the choice
   * is made here; under a grammar the engine itself must choose, and the rest of what it chose from is told.
   */
  async *#tell(tokens: readonly number[], options: SampleOptions): AsyncGenerator<Sampled> {
    const chooses = options.grammar === null;
    const native = this.#native(options);
    const draw = drawer(options.sampling, seededRandom(options.seed));
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

  #inStep<T>(ask: () => Promise<T>): Promise<T> {
    return this.#member === null ? ask() : this.#member.next(ask);
  }

  #native({ sampling, seed, bias, grammar }: SampleOptions): SequenceEvaluateOptions {
    const { repeatPenalty, presencePenalty, frequencyPenalty, repeatLast, xtc, dry } = sampling;
    const penalised =
      repeatLast > 0 && (repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0);
    this.#lookBack = penalised ? repeatLast : 0;
    this.#recent = this.#lookBack === 0 ? [] : this.#recent.slice(-this.#lookBack);
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
    if (this.#lookBack === 0) return;
    this.#recent.push(token);
    if (this.#recent.length > this.#lookBack) this.#recent.shift();
  }
}

/** As many as a request may have looked back at. */
const RECENT_MOST = 1_024;

/** Without the fields that are undefined. */
function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
