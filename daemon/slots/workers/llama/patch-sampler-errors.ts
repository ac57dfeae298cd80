import { Refusal } from '../refusal.ts';

type SampleToken = (...args: readonly unknown[]) => Promise<unknown>;

/** What the library asks for a token, in a field that its types hide. */
interface Sampler {
  sampleToken: SampleToken;
}

/** What the library's samplers answer, and then make an error of, when no token is left to choose. */
const NO_TOKEN = -1;
/** The error that it makes of that. */
const NO_TOKEN_ERROR = 'Failed to sample next token';
/** A sampler fails so over a token that its grammar does not take, which it chooses when the grammar takes none. */
const TOKEN_REJECTED = 'Failed to accept token in sampler';

/** The place of the token and the sampler; what else is to be told follows. */
const SAMPLE_ARGS = 2;

/**
 * Has a token that its grammar does not take end the evaluation of its own sequence. The library would leave the rejection
 * to nobody and that sequence waiting for ever; no token at all, which is what it comes to, it tells whoever asked.
 */
export function patchSamplerErrors(context: object): void {
  const sampler = (context as { readonly _ctx: Sampler })._ctx;
  const sample = sampler.sampleToken.bind(sampler);
  const sampleOrNone: SampleToken = async (...args) => {
    try {
      return await sample(...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith(TOKEN_REJECTED)) throw error;
      // With probabilities asked for, the answer is a list that begins with the token.
      return args.length > SAMPLE_ARGS ? [NO_TOKEN] : NO_TOKEN;
    }
  };
  // The method of its class is read-only, so that an assignment would fail.
  Object.defineProperty(sampler, 'sampleToken', { value: sampleOrNone });
}

/** What ended an answer, as a 400 that names the field of its grammar when no token was left under it. */
export function grammarRefusal(error: unknown, grammar: { readonly param: string } | null): unknown {
  if (grammar === null || !(error instanceof Error) || error.message !== NO_TOKEN_ERROR) return error;
  const { param } = grammar;
  return new Refusal('request.invalid', `${param}: no token of this model fits the grammar`, { param });
}
