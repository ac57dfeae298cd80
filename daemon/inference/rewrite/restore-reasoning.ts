import { asList, asObject, type Json } from '../dialects/json.ts';
import { thoughtOriginOf } from '../dialects/reasoning-signature.ts';
import type { BodyContext } from './body-rule.ts';
import type { ChatHistory } from './chat-history.ts';

/**
 * Returns a message of a translated chat as this upstream accepts it; null when nothing remains of it.
 * Reasoning goes to engines of the own network, and to the provider that produced it in its original field:
 * some refuse a chat without it, others one with it. Extra call fields go only to the upstream that sent them.
 */
export function restoreReasoning(
  message: Json,
  { local, upstream, history }: Pick<BodyContext, 'local' | 'upstream' | 'history'>,
): Json | null {
  if (!upstream || history === undefined) return message;
  const made = withExtras(local ? message : withOwnThoughts(message, upstream), upstream, history);
  return made !== message && isEmptyMessage(made) ? null : made;
}

function withOwnThoughts(message: Json, upstream: string): Json {
  const { reasoning_content: thoughts, ...rest } = message;
  if (thoughts === undefined) return message;
  const origin = thoughtOriginOf(message);
  return origin?.upstream === upstream ? { ...rest, [origin.field]: thoughts } : rest;
}

/** The message had only reasoning, for example after an interruption; providers refuse the rest. */
const isEmptyMessage = ({ role, ...fields }: Json): boolean =>
  Object.values(fields).every((value) => value === '' || value === null);

function withExtras(message: Json, upstream: string, history: ChatHistory): Json {
  const calls = asList(message.tool_calls);
  if (calls.length === 0) return message;
  const extras = calls.map((call) => history.extraOf(upstream, String(asObject(call)?.id)));
  if (extras.every((extra) => extra === undefined)) return message;
  const completed = calls.map((call, at) => ({ ...asObject(call), extra_content: extras[at] }));
  return { ...message, tool_calls: completed };
}
