import { invalidField } from '../refusal.ts';

type SampleToken = (...args: readonly unknown[]) => Promise<unknown>;

/** The sampler object of the library, in a field that its types hide. */
interface Sampler {
  sampleToken: SampleToken;
}

/** Returned by the library's samplers when no token is left. The library turns it into an error. */
const NO_TOKEN = -1;
/** The error message for that value. */
const NO_TOKEN_ERROR = 'Failed to sample next token';
/**
 * The error of a sampler whose grammar rejects the selected token. It selects one when the grammar accepts
 * none.
 */
const TOKEN_REJECTED = 'Failed to accept token in sampler';

/** Arguments for the position and the sampler; optional arguments follow. */
const SAMPLE_ARGS = 2;

/**
 * Makes a rejected token end the evaluation of its own sequence. Otherwise the library leaves the rejection
 * unhandled and the sequence waits indefinitely. The patch returns "no token", which is the actual cause and
 * which the library reports to the caller.
 */
export function patchSamplerErrors(context: object): void {
  const sampler = (context as { readonly _ctx: Sampler })._ctx;
  const sample = sampler.sampleToken.bind(sampler);
  const sampleOrNone: SampleToken = async (...args) => {
    try {
      return await sample(...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith(TOKEN_REJECTED)) throw error;
      // With probabilities, the result is a list that starts with the token.
      return args.length > SAMPLE_ARGS ? [NO_TOKEN] : NO_TOKEN;
    }
  };
  // The method on the class is read-only, so an assignment would throw.
  Object.defineProperty(sampler, 'sampleToken', { value: sampleOrNone });
}

/**
 * Converts the error that ended an answer to a 400 that names the grammar field when no token was left under
 * the grammar.
 */
export function grammarRefusal(error: unknown, grammar: { readonly param: string } | null): unknown {
  if (grammar === null || !(error instanceof Error) || error.message !== NO_TOKEN_ERROR) return error;
  const { param } = grammar;
  return invalidField(param, `${param}: no token of this model fits the grammar`);
}
