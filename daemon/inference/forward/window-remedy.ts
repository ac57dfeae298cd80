import { GatewayError } from '../../contract/errors.ts';
import type { Verdict } from './engine-error.ts';

/** The slot whose window a prompt exceeds. */
export interface ShortWindow {
  readonly slot: string;
  /** The engine is a server that the gateway did not start. */
  readonly isAttached: boolean;
  /** The window in tokens that the slot file has since the engine was started. Null: the same, or none. */
  readonly changedTokens: number | null;
}

const CODE = 'context_length_exceeded';
/** The embedded engine says so; a window cannot be larger than what the model was trained for. */
const IS_MAXIMUM = /maximum of this model/;
/** The window to set when the engine does not say how long the prompt is, in tokens. */
const DEFAULT_TOKENS = 32_768;

interface TooLong {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly n_prompt_tokens?: unknown;
  readonly details?: { readonly n_prompt_tokens?: unknown };
}

const promptTokens = ({ n_prompt_tokens, details }: TooLong): number =>
  Number(n_prompt_tokens ?? details?.n_prompt_tokens);

/** Returns the next power of two that leaves space for an answer. */
function largerWindow(error: TooLong): number {
  const tokens = promptTokens(error);
  return tokens > 0 ? 2 ** Math.ceil(Math.log2(tokens * 1.125)) : DEFAULT_TOKENS;
}

function withRemedy(error: TooLong, { slot, isAttached, changedTokens }: ShortWindow): string {
  const text = String(error.message).replace(/[.\s]+$/, '');
  if (IS_MAXIMUM.test(text)) return `${text} (slot ${slot})`;
  if (isAttached) return `${text}. Slot ${slot}: increase the window where its server is started`;
  const restart = `svcctl slots restart ${slot}`;
  if (changedTokens !== null && !(promptTokens(error) >= changedTokens))
    return `${text}. Slot ${slot}: context in slots/${slot}.toml has changed and applies after: ${restart}`;
  const set = `svcctl slots set ${slot} context=${largerWindow(error)}`;
  return `${text}. Slot ${slot}: set context in slots/${slot}.toml, for example with: ${set} && ${restart}`;
}

/**
 * Adds the slot, the setting and the commands that increase the window to the error for a prompt that is too long
 * (docs/spec/contract.md#window-errors). The beginning of the message stays, because clients recognise it.
 */
export function withWindowRemedy(verdict: Verdict, bytes: Buffer, short: ShortWindow): Verdict {
  if (!verdict.passes) {
    const { code, message, options } = verdict.error;
    if (code !== CODE) return verdict;
    const error = { message, details: options.details as TooLong['details'] };
    return {
      passes: false,
      error: new GatewayError(CODE, { ...options, message: withRemedy(error, short) }),
    };
  }
  if (!bytes.includes(CODE)) return verdict;
  const body = JSON.parse(bytes.toString('utf8')) as { readonly error?: TooLong };
  if (body.error?.code !== CODE) return verdict;
  const changed = { ...body, error: { ...body.error, message: withRemedy(body.error, short) } };
  return { passes: true, bytes: Buffer.from(JSON.stringify(changed)) };
}
