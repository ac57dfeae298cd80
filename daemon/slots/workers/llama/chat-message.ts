import { z } from 'zod';
import { unsupportedContent } from '../refusal.ts';

/** A message as chat templates expect it: content is text, arguments are unchanged. */
export interface ChatMessage {
  role: string;
  content: string;
  tool_calls?: ToolCallMessage[];
  [other: string]: unknown;
}

export interface ToolCallMessage {
  function: { name: string; arguments: unknown };
  [other: string]: unknown;
}

const part = z.looseObject({
  type: z.string(),
  text: z.string().nullish(),
  refusal: z.string().nullish(),
});
const called = z.looseObject({ name: z.string(), arguments: z.unknown().optional() });
const toolCall = z.preprocess(functionOfCustom, z.looseObject({ function: called }));

/** One entry of `messages` in a request. */
export const messageField = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)], { error: 'must be a string or an array of parts' }).nullish(),
  tool_calls: z.array(toolCall).nullish(),
  function_call: called.nullish(),
});
type MessageField = z.infer<typeof messageField>;

/** A custom tool has one text as its input: it is written as a function with that argument. */
function functionOfCustom(call: unknown): unknown {
  const { type, custom, ...rest } = (call ?? {}) as Record<string, unknown>;
  if (type !== 'custom' || typeof custom !== 'object' || custom === null) return call;
  const { name, input } = custom as Record<string, unknown>;
  return { ...rest, type: 'function', function: { name, arguments: { input: input ?? '' } } };
}

/**
 * Returns the messages with the calls of OpenAI's older API (`function_call`, and results with the role `function`)
 * as tool calls.
 */
export function withToolCalls(messages: readonly MessageField[]): MessageField[] {
  let open: string | null = null;
  return messages.map((message, at): MessageField => {
    const { function_call: old, ...rest } = message;
    if (message.role === 'function') {
      const id = open ?? `call_${at}`;
      open = null;
      return { ...rest, role: 'tool', tool_call_id: id };
    }
    if (old === undefined || old === null) return rest;
    open = `call_${at}`;
    return { ...rest, tool_calls: [{ id: open, type: 'function', function: old }] };
  });
}

/** Converts a message for templates. Throws a 400 for a part that is not text. */
export function chatMessage(source: z.infer<typeof messageField>, index: number): ChatMessage {
  const { tool_calls: calls, content, role, ...other } = source;
  return {
    ...other,
    role: role === 'developer' ? 'system' : role,
    content: typeof content === 'string' ? content : flatten(content ?? [], index),
    ...(calls == null || calls.length === 0 ? {} : { tool_calls: calls.map(toolCallMessage) }),
  };
}

function toolCallMessage(call: z.infer<typeof toolCall>): ToolCallMessage {
  return { ...call, function: { ...call.function, arguments: call.function.arguments ?? {} } };
}

/** Joins the texts with line breaks, as llama-server does. */
function flatten(parts: readonly z.infer<typeof part>[], index: number): string {
  return parts
    .map((each, i) => {
      const text = wordsOf(each);
      if (text !== null) return text;
      const field = `messages.${index}.content.${i}`;
      throw unsupportedContent(
        field,
        `${field}: the embedded engine reads text only, not parts of type "${each.type}". Remove the part, or use a model with vision on llama-server or an upstream.`,
      );
    })
    .reduce((before, text) => (before === '' ? text : `${before}\n${text}`), '');
}

/** Returns the text of a part. A refusal in the history counts as the assistant's text. */
function wordsOf({ type, text, refusal }: z.infer<typeof part>): string | null {
  if (type === 'refusal') return text ?? refusal ?? null;
  return text ?? (TEXT_TYPES.has(type) ? '' : null);
}

/** Parts of text; some clients send them without one. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);
