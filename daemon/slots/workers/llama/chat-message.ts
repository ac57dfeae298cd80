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
const toolCall = z.looseObject({
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});

/** One entry of `messages` in a request. */
export const messageField = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)], { error: 'must be a string or an array of parts' }).nullish(),
  tool_calls: z.array(toolCall).nullish(),
});

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
  return text ?? (type === 'refusal' ? (refusal ?? null) : null);
}
