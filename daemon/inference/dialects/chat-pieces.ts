import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../contract/errors.ts';
import { answerTexts } from './answer-texts.ts';
import { asList, asObject, type Json } from './json.ts';
import type { ChatUsage, Piece } from './piece.ts';

/** Reads chat answers of any engine, whole or chunk by chunk; one reader for each answer. Only the first choice is read. */
export class ChatPieces {
  readonly #keep: KeepExtra | undefined;
  #calls = 0;
  /** The call that is open under each of the engine's own numbers. */
  readonly #openCalls = new Map<number, OpenCall>();

  /** `keep` is told what calls hold that no piece tells. */
  constructor(keep?: KeepExtra) {
    this.#keep = keep;
  }

  /** The pieces of a `chat.completion`, or of one chunk of its stream, in the order in which they are to be told. */
  read(answer: Json): Piece[] {
    const choice = asObject(asList(answer.choices)[0]);
    const said = asObject(choice?.delta) ?? asObject(choice?.message) ?? {};
    const pieces: Piece[] = [...answerTexts(said), ...this.#callPieces(asList(said.tool_calls))];
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
   * A call is new when its number is, or when it names itself with another id under a number that was used: Gemini and
   * older Ollamas number every call 0. Without numbers it is new when it has a name.
   */
  #callPiece(call: Json, called: Json): Piece[] {
    const number = typeof call.index === 'number' ? call.index : null;
    const name = typeof called.name === 'string' ? called.name : '';
    const text = argumentsOf(called.arguments);
    const said = typeof call.id === 'string' ? call.id : '';
    const known = this.#openCall(number, said, name);
    if (known !== undefined) return text === '' || known < 0 ? [] : [piece(known, text)];
    const index = this.#calls++;
    if (number !== null) this.#openCalls.set(number, { index, id: said });
    const id = said === '' ? newId('call') : said;
    const extra = asObject(call.extra_content);
    if (extra) this.#keep?.(id, extra);
    const begun: Piece = { type: 'call', index, id, name, ...(extra ? { extra } : {}) };
    return text === '' ? [begun] : [begun, piece(index, text)];
  }

  /** The call that goes on; undefined for a new one. */
  #openCall(number: number | null, id: string, name: string): number | undefined {
    if (number === null) return name === '' ? this.#calls - 1 : undefined;
    const open = this.#openCalls.get(number);
    if (open === undefined) return undefined;
    const another = name !== '' && id !== '' && open.id !== '' && id !== open.id;
    return another ? undefined : open.index;
  }
}

/** Takes what a call holds beside name and arguments. */
export type KeepExtra = (callId: string, extra: Json) => void;

/** `id`: as the engine said it; empty when it said none. */
interface OpenCall {
  readonly index: number;
  readonly id: string;
}

/** The same chat. Throws `upstream.error` for one that holds no message: whatever it is, it is no empty answer. */
export function withMessage(answer: Json): Json {
  if (asObject(asObject(asList(answer.choices)[0])?.message)) return answer;
  throw new GatewayError('upstream.error', { message: 'The engine answered without a message.' });
}

/** The pieces of a whole answer. Throws as `withMessage`. */
export const wholePieces = (answer: Json, keep?: KeepExtra): Piece[] =>
  new ChatPieces(keep).read(withMessage(answer));

const piece = (index: number, text: string): Piece => ({ type: 'arguments', index, text });

/** Some engines give an object where the text of one belongs. */
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

/** A new id: `msg_` and 32 hexadecimal digits. */
export const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`;
