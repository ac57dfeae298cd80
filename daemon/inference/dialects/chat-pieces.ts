import { GatewayError } from '../../contract/errors.ts';
import { CallFragments, type KeepExtra } from './call-fragments.ts';
import { CallSequence } from './call-sequence.ts';
import { finishReason } from './finish-reason.ts';
import { asList, asObject, type Json } from './json.ts';
import type { ChatUsage, Piece } from './piece.ts';
import { answerTexts } from './response-texts.ts';

/**
 * Reads chat responses of any engine, whole or chunk by chunk. Use one reader per response. Reads only the
 * first choice.
 */
export class ChatPieces {
  readonly #calls: CallFragments;

  /** `keep` receives the fields of calls that no piece carries. */
  constructor(keep?: KeepExtra) {
    this.#calls = new CallFragments(keep);
  }

  /**
   * Returns the pieces of a `chat.completion`, or of one chunk of its stream, in output order. Pieces of
   * parallel calls may be interleaved. Throws `upstream.error` for too many calls.
   */
  read(answer: Json): Piece[] {
    const choice = asObject(asList(answer.choices)[0]);
    const part = asObject(choice?.delta);
    const message = part ?? asObject(choice?.message) ?? {};
    const pieces: Piece[] = [...answerTexts(message), ...this.#calls.read(message, part === undefined)];
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') {
      const stop = typeof choice.stop_reason === 'string' ? choice.stop_reason : null;
      pieces.push(...this.#calls.end(), { type: 'finish', reason: finishReason(choice.finish_reason), stop });
    }
    const usage = asObject(answer.usage);
    if (usage) pieces.push({ type: 'usage', usage: usageOf(usage) });
    return pieces;
  }

  /** Returns the pieces that were held, at the end of the response. */
  end(): Piece[] {
    return this.#calls.end();
  }
}

/**
 * Returns the same chat. Throws `upstream.error` for a response without a message, which is not an empty
 * response.
 */
export function withMessage(answer: Json): Json {
  if (asObject(asObject(asList(answer.choices)[0])?.message)) return answer;
  throw new GatewayError('upstream.error', { message: 'The engine answered without a message.' });
}

/** Returns the pieces of a complete response, each call in one run. Throws like `withMessage`. */
export function wholePieces(answer: Json, keep?: KeepExtra): Piece[] {
  const pieces = new ChatPieces(keep);
  const sequence = new CallSequence();
  const read = [...pieces.read(withMessage(answer)), ...pieces.end()];
  return [...read.flatMap((piece) => sequence.push(piece)), ...sequence.end()];
}

function usageOf(usage: Json): ChatUsage {
  const input = count(usage.prompt_tokens);
  return {
    input,
    cached: Math.min(input, count(asObject(usage.prompt_tokens_details)?.cached_tokens)),
    output: count(usage.completion_tokens),
    reasoning: count(asObject(usage.completion_tokens_details)?.reasoning_tokens),
  };
}

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
