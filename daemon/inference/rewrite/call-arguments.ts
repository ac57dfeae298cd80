import { GatewayError } from '../../contract/errors.ts';
import { asList, asObject, callArguments, type Json } from '../dialects/json.ts';
import type { BodyIndex, Message } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { type Edit, NO_EDITS, replace } from './edits.ts';

const CALLS = '"tool_calls"';

/**
 * Checks the arguments of every earlier tool call. Throws 400 `request.invalid_history` with the position of
 * one that is no JSON object: chat templates fail on it, and llama-server answers 500, which clients retry.
 * Returns the edits that write empty arguments as `{}`, which means the same and which every engine reads.
 */
export function checkCalls({ bytes, messages }: BodyIndex): readonly Edit[] {
  if (!bytes.includes(CALLS)) return NO_EDITS;
  return messages.flatMap((message) => {
    const { start, end } = message.value;
    if (message.role !== 'assistant' || message.kind !== 'object') return NO_EDITS;
    const text = bytes.toString('utf8', start, end);
    return text.includes(CALLS) ? checkMessage(message, JSON.parse(text) as Json) : NO_EDITS;
  });
}

function checkMessage(at: Message, message: Json): readonly Edit[] {
  let isChanged = false;
  const calls = asList(message.tool_calls).map((call, index) => {
    const called = asObject(asObject(call)?.function);
    if (typeof called?.arguments !== 'string') return call;
    const text = readable(called.arguments);
    if (text === undefined) throw unreadable(`messages.${at.index}.tool_calls.${index}`);
    if (text === called.arguments) return call;
    isChanged = true;
    return { ...asObject(call), function: { ...called, arguments: text } };
  });
  // A message with two roles is written again by the rule for system messages.
  if (!isChanged || at.isAmbiguous) return NO_EDITS;
  return [replace(at.value, JSON.stringify({ ...message, tool_calls: calls }))];
}

const readable = (text: string): string | undefined => callArguments(text.trim() === 'null' ? '' : text);

const unreadable = (param: string): GatewayError =>
  new GatewayError('request.invalid_history', {
    param,
    message: `${param}: the arguments of this call are not a JSON object. Correct them, or remove the call and its result from the history.`,
  });

/** Fills in empty arguments for engines of the own network. A provider gets the text as sent. */
export const fillArguments: BodyRule = ({ local, callEdits }) => (local ? (callEdits ?? NO_EDITS) : NO_EDITS);
