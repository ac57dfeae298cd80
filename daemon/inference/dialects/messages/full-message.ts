import { GatewayError } from '../../../contract/errors.ts';
import type { Responder } from '../dialect.ts';
import { asObject, callArguments, type Json, parsed } from '../json.ts';
import type { ChatUsage, Piece } from '../piece.ts';
import { reasoningSignature } from '../reasoning-signature.ts';
import { stopOf, usageOf } from './message-end.ts';

export interface MessageHead extends Responder {
  readonly id: string;
}

type Call = { readonly id: string; readonly name: string; text: string };

/**
 * Returns a `message` of Anthropic's API, without a call that the token limit truncated. Throws
 * `upstream.error` for any other call whose arguments are not an object.
 */
export function wholeMessage(head: MessageHead, pieces: readonly Piece[]): Json {
  const { id, model } = head;
  const content: Json[] = [];
  const calls: Call[] = [];
  let finish: (Piece & { type: 'finish' }) | null = null;
  let usage: ChatUsage | null = null;
  for (const piece of pieces) {
    if (piece.type === 'finish') finish = piece;
    else if (piece.type === 'usage') usage = piece.usage;
    else if (piece.type === 'call') calls.push({ id: piece.id, name: piece.name, text: '' });
    else if (piece.type === 'arguments') {
      const call = calls[piece.index];
      if (call) call.text += piece.text;
    } else if (piece.type === 'reasoning')
      content.push({
        type: 'thinking',
        thinking: piece.text,
        signature: reasoningSignature(head, piece.field),
      });
    else content.push({ type: 'text', text: piece.text });
  }
  if (finish?.reason === 'length' && callArguments(calls.at(-1)?.text ?? '') === undefined) calls.pop();
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [...content, ...calls.map(toolUse)],
    ...stopOf(finish, calls.length > 0),
    usage: usageOf(usage),
  };
}

function toolUse({ id, name, text }: Call): Json {
  const input = asObject(parsed(callArguments(text) ?? ''));
  if (input) return { type: 'tool_use', id, name, input };
  throw new GatewayError('upstream.error', {
    message: `The model called ${name} with arguments that are not a JSON object.`,
  });
}
