import { asList, asObject, type Json } from '../dialects/json.ts';
import { serverName, thoughtOriginOf } from '../dialects/reasoning-signature.ts';
import type { BodyContext } from './body-rule.ts';
import type { ChatHistory } from './chat-history.ts';

/**
 * Returns a message of a translated chat as this target accepts it; null when nothing remains of it. Reasoning goes
 * back to the server that produced it in its original field, because some servers read no other. It also goes to
 * other engines of the own network, and to no other provider: some refuse a chat without it, others one with it.
 * Extra call fields go only to the upstream that sent them.
 */
export function restoreReasoning(
  message: Json,
  { local, upstream, slot, history }: Pick<BodyContext, 'local' | 'upstream' | 'slot' | 'history'>,
): Json | null {
  if (history === undefined) return message;
  const own = withThoughts(message, serverName({ upstream, slot }), local);
  const made = upstream ? withExtras(own, upstream, history) : own;
  return made !== message && isEmptyMessage(made) ? null : made;
}

function withThoughts(message: Json, server: string | null, local: boolean): Json {
  const { reasoning_content: thoughts, ...rest } = message;
  if (thoughts === undefined) return message;
  const origin = thoughtOriginOf(message);
  if (origin === undefined || origin.server !== server) return local ? message : rest;
  return origin.field === 'reasoning_content' ? message : { ...rest, [origin.field]: thoughts };
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
