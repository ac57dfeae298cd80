import { InputLookupTokenPredictor, type LlamaModel, type Token, TokenPredictor } from 'node-llama-cpp';
import type { SampleOptions } from './sequence.ts';

/** Shorter repeats predict the wrong token more often than they help. */
const MIN_PATTERN_TOKENS = 3;

/**
 * Predicts the next tokens from repeats of the prompt. The model checks them, so the answer stays the same. Predicts
 * nothing for requests whose sampling depends on the tokens in between.
 */
export class NgramPredictor extends TokenPredictor {
  readonly #lookup: InputLookupTokenPredictor;
  #isOn = false;

  constructor(tokens: number) {
    super();
    this.#lookup = new InputLookupTokenPredictor({
      patternLength: { min: MIN_PATTERN_TOKENS },
      predictionLength: { min: 1, max: tokens },
    });
  }

  /** Prepares a request. */
  begin(prompt: readonly number[], options: SampleOptions): void {
    this.#isOn = canPredict(options);
    this.#lookup.updateInputTokens(this.#isOn ? (prompt as Token[]) : []);
  }

  reset({ stateTokens }: { stateTokens: Token[] }): void {
    if (this.#isOn) this.#lookup.reset({ stateTokens });
  }

  pushTokens(tokens: Token[]): void {
    if (this.#isOn) this.#lookup.pushTokens(tokens);
  }

  predictTokens(): Token[] {
    return this.#isOn ? this.#lookup.predictTokens() : [];
  }
}

/**
 * Returns whether several tokens can be sampled in one step with the same result as one after another. Penalties look back
 * at the tokens before, and a grammar behind a gate starts in the middle of them. A chosen token replaces the
 * engine's own when probabilities are requested.
 */
function canPredict({ sampling, grammar, probabilities }: SampleOptions): boolean {
  const { repeatPenalty, presencePenalty, frequencyPenalty, xtc, dry, typicalP } = sampling;
  const dependsOnPast =
    repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0 || dry !== null;
  return !dependsOnPast && xtc === null && typicalP >= 1 && !probabilities && grammar === null;
}

/** Returns whether wrong predictions can be removed from the state of this model: not from recurrent or sliding layers. */
export const canRollBack = ({ fileInsights }: LlamaModel): boolean =>
  !fileInsights.isHybrid && !fileInsights.isRecurrent && fileInsights.swaSize == null;
