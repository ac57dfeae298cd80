import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, type Json } from './json.ts';
import type { ChatUsage, Piece } from './piece.ts';
import { answerTexts } from './response-texts.ts';

/**
 * Reads chat responses of any engine, whole or chunk by chunk. Use one reader per response. Reads only the
 * first choice.
 */
export class ChatPieces {
  readonly #keep: KeepExtra | undefined;
  #calls = 0;
  /** The open call under each of the engine's numbers. */
  readonly #openCalls = new Map<number, OpenCall>();

  /** `keep` receives the fields of calls that no piece carries. */
  constructor(keep?: KeepExtra) {
    this.#keep = keep;
  }

  /** Returns the pieces of a `chat.completion`, or of one chunk of its stream, in output order. */
  read(answer: Json): Piece[] {
    const choice = asObject(asList(answer.choices)[0]);
    const delta = asObject(choice?.delta) ?? asObject(choice?.message) ?? {};
    const pieces: Piece[] = [...answerTexts(delta), ...this.#callPieces(asList(delta.tool_calls))];
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') {
      const stop = typeof choice.stop_reason === 'string' ? choice.stop_reason : null;
      pieces.push({ type: 'finish', reason: choice.finish_reason, stop });
    }
    const usage = asObject(answer.usage);
    if (usage) pieces.push({ type: 'usage', usage: usageOf(usage) });
    return pieces;
  }

  #callPieces(calls: readonly unknown[]): Piece[] {
    return calls.flatMap((each) => {
      const call = asObject(each);
      const called = asObject(call?.function);
      return call && called ? this.#callPiece(call, called) : [];
    });
  }

  /**
   * A call is new when its number is new, or when it has a name and another id under a used number: Gemini
   * and older Ollama versions number every call 0. Without numbers it is new when it has a name.
   */
  #callPiece(call: Json, called: Json): Piece[] {
    const number = typeof call.index === 'number' ? call.index : null;
    const name = typeof called.name === 'string' ? called.name : '';
    const text = argumentsOf(called.arguments);
    const callId = typeof call.id === 'string' ? call.id : '';
    const known = this.#openCall(number, callId, name);
    if (known !== undefined) return text === '' || known < 0 ? [] : [piece(known, text)];
    const index = this.#calls++;
    if (number !== null) this.#openCalls.set(number, { index, id: callId });
    const id = callId === '' ? newId('call') : callId;
    const extra = asObject(call.extra_content);
    if (extra) this.#keep?.(id, extra);
    const startPiece: Piece = { type: 'call', index, id, name, ...(extra ? { extra } : {}) };
    return text === '' ? [startPiece] : [startPiece, piece(index, text)];
  }

  /** Returns the index of the call that continues; undefined for a new call. */
  #openCall(number: number | null, id: string, name: string): number | undefined {
    if (number === null) return name === '' ? this.#calls - 1 : undefined;
    const open = this.#openCalls.get(number);
    if (open === undefined) return undefined;
    const another = name !== '' && id !== '' && open.id !== '' && id !== open.id;
    return another ? undefined : open.index;
  }
}

/** Stores the fields of a call in addition to name and arguments. */
export type KeepExtra = (callId: string, extra: Json) => void;

/** `id` is the engine's id; empty when it sent none. */
interface OpenCall {
  readonly index: number;
  readonly id: string;
}

/**
 * Returns the same chat. Throws `upstream.error` for a response without a message, which is not an empty
 * response.
 */
export function withMessage(answer: Json): Json {
  if (asObject(asObject(asList(answer.choices)[0])?.message)) return answer;
  throw new GatewayError('upstream.error', { message: 'The engine answered without a message.' });
}

/** Returns the pieces of a complete response. Throws like `withMessage`. */
export const wholePieces = (answer: Json, keep?: KeepExtra): Piece[] =>
  new ChatPieces(keep).read(withMessage(answer));

const piece = (index: number, text: string): Piece => ({ type: 'arguments', index, text });

/** Some engines send an object instead of JSON text. */
const argumentsOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

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

/** Returns a new id, for example `msg_` and 32 hexadecimal digits. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;
