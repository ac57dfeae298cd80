import { asList, asObject, type Json } from '../dialects/json.ts';
import { thoughtOriginOf } from '../dialects/reasoning-signature.ts';
import type { BodyRule } from './body-rule.ts';
import { type Edit, NO_EDITS, remove, replace } from './edits.ts';

/** The messages of a chat that was made from a request of another API. */
export interface ChatHistory {
  /** In their order in the body. */
  readonly messages: readonly Json[];
  /** What this upstream said with a call beside name and arguments. */
  extraOf(upstream: string, callId: string): Json | undefined;
}

/**
 * What a model thought goes back to engines of the own network, and to the provider that said it, in the field in which it
 * said it: some refuse a chat without it, others one with it. What an upstream said with a call goes back to it alone. A
 * chat that came as one stays as it was written.
 */
export const restoreReasoning: BodyRule = ({ index, local, upstream, history }) => {
  if (!upstream || history === undefined) return NO_EDITS;
  return history.messages.flatMap((message, at): Edit[] => {
    const place = index.messages[at];
    const made = withExtras(local ? message : withOwnThoughts(message, upstream), upstream, history);
    if (place === undefined || made === message) return [];
    return [isEmptyMessage(made) ? remove('messages', place) : replace(place.value, JSON.stringify(made))];
  });
};

function withOwnThoughts(message: Json, upstream: string): Json {
  const { reasoning_content: thoughts, ...rest } = message;
  if (thoughts === undefined) return message;
  const origin = thoughtOriginOf(message);
  return origin?.upstream === upstream ? { ...rest, [origin.field]: thoughts } : rest;
}

/** Nothing but thoughts was said, as by an answer that broke off: providers refuse what is left. */
const isEmptyMessage = ({ role, ...said }: Json): boolean =>
  Object.values(said).every((value) => value === '' || value === null);

function withExtras(message: Json, upstream: string, history: ChatHistory): Json {
  const calls = asList(message.tool_calls);
  if (calls.length === 0) return message;
  const extras = calls.map((call) => history.extraOf(upstream, String(asObject(call)?.id)));
  if (extras.every((extra) => extra === undefined)) return message;
  const told = calls.map((call, at) => ({ ...asObject(call), extra_content: extras[at] }));
  return { ...message, tool_calls: told };
}
