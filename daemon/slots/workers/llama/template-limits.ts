import { createHash } from 'node:crypto';
import type { CallForm, Render } from './call-form.ts';
import type { ChatMessage, ToolCallMessage } from './chat-message.ts';

/** What a template refuses or drops. {@link withinLimits} changes messages so that it does neither. */
export interface TemplateLimits {
  /** Ids of calls must have nine letters or digits, as in Mistral's templates. */
  nineCharIds: boolean;
  /** A message may have only one call, as in Llama 3's templates. */
  oneCall: boolean;
  /** Calls next to a text are dropped, as in some templates of DeepSeek R1. */
  callsAlone: boolean;
  /** There is no place for a system message, as in Gemma 2's template. */
  noSystem: boolean;
  /** A system message alone is refused or dropped. */
  needsUser: boolean;
  /** Messages of user and assistant must alternate, the user first. */
  alternates: boolean;
}

const [SYSTEM, USER, ANSWER, ARGUMENT] = ['system', 'user', 'answer', 'argument'].map(
  (name) => `svc-probe-${name}`,
) as [string, string, string, string];
const system = { role: 'system', content: SYSTEM };
const user = { role: 'user', content: USER };
const LONG_ID = 'call_00000000000000000000000000000000';
/** The text of a message that only separates others. Templates refuse an empty one. */
const NO_TEXT = '...';
const NINE_CHARS = /^[A-Za-z0-9]{9}$/;

/** Detects the limits by rendering short conversations. `form`: how the template expects calls. */
export function templateLimits(render: Render, form: CallForm): TemplateLimits {
  const fits = (messages: readonly object[], ...texts: readonly string[]): boolean => {
    const prompt = rendered(render, messages);
    return prompt !== null && texts.every((text) => prompt.includes(text));
  };
  const fails = (messages: readonly object[]): boolean => !fits(messages);
  const call = (id: string) => {
    const args = { [ARGUMENT]: 1 };
    return {
      id,
      type: 'function',
      function: { name: 'probe', arguments: form.objects ? args : JSON.stringify(args) },
    };
  };
  const turn = (content: string | null, ...ids: string[]) => [
    user,
    { role: 'assistant', content, tool_calls: ids.map(call) },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, name: 'probe', content: ANSWER })),
  ];
  const { emptyContent } = form;
  const takesCalls = form.written && fits(turn(emptyContent, 'call00000'), ARGUMENT);
  return {
    nineCharIds: takesCalls && fails(turn(emptyContent, LONG_ID)),
    oneCall: takesCalls && fails(turn(emptyContent, 'call00000', 'call00001')),
    callsAlone: takesCalls && !fits(turn(ANSWER, 'call00000'), ARGUMENT),
    noSystem: fits([user]) && !fits([system, user], SYSTEM),
    needsUser: !fits([system], SYSTEM),
    alternates: fits([user]) && fails([user, user]),
  };
}

/** Some templates require a list of tools. */
function rendered(render: Render, messages: readonly object[]): string | null {
  for (const variables of [{ messages }, { messages, tools: [] }])
    try {
      return render(variables);
    } catch {}
  return null;
}

/** Returns the messages as a template with these limits takes them. Every text and call stays, in its order. */
export function withinLimits(
  messages: readonly ChatMessage[],
  limits: TemplateLimits,
): readonly ChatMessage[] {
  let out = messages;
  if (limits.oneCall) out = oneCallEach(out);
  if (limits.callsAlone) out = out.flatMap(textThenCalls);
  if (limits.nineCharIds) out = withNineCharIds(out);
  if (limits.noSystem) out = systemInUser(out);
  else if (limits.needsUser) out = lastSystemAsUser(out);
  return limits.alternates ? alternating(out) : out;
}

/** Returns one message for each call of a message with several, followed by its results. */
function oneCallEach(messages: readonly ChatMessage[]): ChatMessage[] {
  const out: ChatMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as ChatMessage;
    const { tool_calls: calls = [], ...rest } = message;
    if (calls.length < 2) {
      out.push(message);
      continue;
    }
    const results: ChatMessage[] = [];
    while (messages[at + 1]?.role === 'tool') results.push(messages[++at] as ChatMessage);
    const ofCalls = resultsOf(calls, results);
    for (const [i, call] of calls.entries())
      out.push(
        { ...rest, content: i === 0 ? message.content : '', tool_calls: [call] },
        ...(ofCalls[i] ?? []),
      );
  }
  return out;
}

/** Returns the results of each call, by id, otherwise by position. */
function resultsOf(calls: readonly ToolCallMessage[], results: readonly ChatMessage[]): ChatMessage[][] {
  const positions = new Map<unknown, number>();
  for (const [at, { id }] of calls.entries())
    if (id !== undefined && !positions.has(id)) positions.set(id, at);
  const ofCalls = calls.map((): ChatMessage[] => []);
  for (const [at, result] of results.entries())
    ofCalls[positions.get(result.tool_call_id) ?? Math.min(at, calls.length - 1)]?.push(result);
  return ofCalls;
}

function textThenCalls(message: ChatMessage): ChatMessage[] {
  const { tool_calls: calls, ...text } = message;
  if (calls === undefined || message.content === '') return [message];
  return [text as ChatMessage, { ...message, content: '' }];
}

/** Replaces ids. A result without an id gets that of the next call without a result. */
function withNineCharIds(messages: readonly ChatMessage[]): ChatMessage[] {
  const open = new Set<string>();
  let count = 0;
  const shortened = (call: ToolCallMessage): ToolCallMessage => {
    const id = nineChars(call.id ?? `call ${count++}`);
    open.add(id);
    return { ...call, id };
  };
  return messages.map((message) => {
    if (message.tool_calls !== undefined) {
      open.clear();
      return { ...message, tool_calls: message.tool_calls.map(shortened) };
    }
    if (message.role !== 'tool') return message;
    const known = message.tool_call_id;
    const id = nineChars(known ?? open.values().next().value ?? '');
    open.delete(id);
    return { ...message, tool_call_id: id };
  });
}

/** Returns the same nine letters or digits for the same id. */
function nineChars(id: unknown): string {
  const text = String(id);
  if (NINE_CHARS.test(text)) return text;
  return createHash('sha256').update(text).digest('hex').slice(0, 9);
}

const isSystem = ({ role }: ChatMessage): boolean => role === 'system';

/** Puts the texts of system messages before the first message of the user. */
function systemInUser(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const text = joined(messages.filter(isSystem).map(({ content }) => content));
  if (text === '') return messages.filter((message) => !isSystem(message));
  const rest = messages.filter((message) => !isSystem(message));
  const at = rest.findIndex(({ role }) => role === 'user');
  if (at < 0) return [{ role: 'user', content: text }, ...rest];
  return rest.map((message, i) =>
    i === at ? { ...message, content: joined([text, message.content]) } : message,
  );
}

function lastSystemAsUser(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (messages.some(({ role }) => role === 'user')) return messages;
  const last = messages.findLastIndex(isSystem);
  return messages.map((message, at) => (at === last ? { ...message, role: 'user' } : message));
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n');

/**
 * Merges adjacent messages of one role, and puts a message between messages of one role that calls and their
 * results separate. Messages with calls do not count, as in Mistral's templates.
 */
function alternating(messages: readonly ChatMessage[]): ChatMessage[] {
  const out: ChatMessage[] = [];
  let turn = 'assistant';
  for (const message of messages) {
    const last = out.at(-1);
    if (last !== undefined && last.role === message.role && ['user', 'assistant'].includes(message.role)) {
      out[out.length - 1] = merged(last, message);
      if (message.tool_calls !== undefined && last.tool_calls === undefined) turn = 'user';
      continue;
    }
    if (['user', 'assistant'].includes(message.role) && message.tool_calls === undefined) {
      if (message.role === turn) out.push({ role: turn === 'user' ? 'assistant' : 'user', content: NO_TEXT });
      turn = message.role;
    }
    out.push(message);
  }
  return out;
}

function merged(first: ChatMessage, second: ChatMessage): ChatMessage {
  const calls = [...(first.tool_calls ?? []), ...(second.tool_calls ?? [])];
  return {
    ...first,
    ...second,
    content: joined([first.content, second.content]),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
