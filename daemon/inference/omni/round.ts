import { GatewayError } from '../../contract/errors.ts';
import { isEventStream } from '../../lib/net/sse.ts';
import { ChatPieces, withMessage } from '../dialects/chat-pieces.ts';
import { asObject, type Json } from '../dialects/json.ts';
import type { Piece, ThoughtField } from '../dialects/piece.ts';
import type { InternalReply } from '../internal.ts';
import { eventsOf, wholeJson } from '../internal-read.ts';
import type { ResponseEmitter } from './response-emitter.ts';
import type { ToolCall } from './run-tool.ts';

/** The output of the model in one round. */
export interface Round {
  readonly text: string;
  /** Its reasoning, in the field in which the model expects it back. */
  readonly thoughts: Json;
  readonly calls: readonly ToolCall[];
  readonly finish: string;
  readonly usage: Json;
}

/** Maximum characters and calls of one round. Fewer calls are run. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_CALLS = 1024;

/**
 * Reads one streamed chat to its end and emits text as it arrives. Throws the error that the reply reports.
 */
export async function readRound(
  answer: InternalReply,
  emitter: ResponseEmitter,
  newCall: () => string,
): Promise<Round> {
  const pieces = new ChatPieces();
  const calls: OpenCall[] = [];
  const thoughts: Partial<Record<ThoughtField, string>> = {};
  let text = '';
  let finish = 'stop';
  let usage: Json = {};
  let characters = 0;
  const accept = async (piece: Piece): Promise<void> => {
    if (piece.type === 'usage') return;
    if (piece.type === 'finish') finish = piece.reason;
    else if (piece.type === 'call') calls.push(openCall(piece, newCall()));
    else {
      characters += piece.text.length;
      if (characters > MAX_CHARACTERS)
        throw new GatewayError('upstream.error', { message: 'The answer is too long.' });
      if (piece.type === 'arguments') append(calls[piece.index], piece.text);
      else await emitter.text(piece.type, piece.text);
      if (piece.type === 'text') text += piece.text;
      if (piece.type !== 'reasoning' || piece.field === undefined) return;
      thoughts[piece.field] = (thoughts[piece.field] ?? '') + piece.text;
    }
  };
  for await (const event of chunksOf(answer)) {
    usage = asObject(event.usage) ?? usage;
    for (const piece of pieces.read(event)) await accept(piece);
    if (calls.length > MAX_CALLS)
      throw new GatewayError('upstream.error', { message: 'The model makes too many tool calls at once.' });
  }
  for (const piece of pieces.end()) await accept(piece);
  return { text, thoughts, calls, finish, usage };
}

/**
 * Yields the chunks of a stream, or the complete response of an engine that does not stream. Throws like
 * `withMessage`.
 */
async function* chunksOf(answer: InternalReply): AsyncGenerator<Json> {
  if (isEventStream(answer.headers['content-type'])) {
    yield* eventsOf(answer);
    return;
  }
  yield withMessage(asObject(await wholeJson(answer, MAX_CHARACTERS)) ?? {});
}

/** A call whose arguments are still growing. */
type OpenCall = ToolCall & { arguments: string };

const openCall = ({ name, extra }: Piece & { type: 'call' }, id: string): OpenCall => ({
  id,
  name,
  arguments: '',
  ...(extra ? { extra } : {}),
});

function append(call: OpenCall | undefined, text: string): void {
  if (call) call.arguments += text;
}

/** Adds token counts of all rounds. */
export function addUsage(sum: Json, more: Json): Json {
  const all = { ...sum };
  for (const [key, value] of Object.entries(more)) {
    const before = all[key];
    const inner = asObject(value);
    if (inner) all[key] = addUsage(asObject(before) ?? {}, inner);
    else if (typeof value === 'number') all[key] = (typeof before === 'number' ? before : 0) + value;
  }
  return all;
}
