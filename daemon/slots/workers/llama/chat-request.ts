import { z } from 'zod';
import { invalidField } from '../refusal.ts';
import { type AnswerRequest, answerFields, answerRequest, parseBody } from './request.ts';

/** A message as chat templates read it: text only, arguments as they came. */
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

export interface ChatRequest extends AnswerRequest {
  messages: ChatMessage[];
  /** Null when no tool is offered (or `tool_choice` is `none`). */
  tools: unknown[] | null;
  /** Further variables of the template (`enable_thinking` and the like). */
  templateArguments: Record<string, unknown>;
}

const part = z.looseObject({ type: z.string(), text: z.string().nullish() });
const toolCall = z.looseObject({
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)], { error: 'must be a string or an array of parts' }).nullish(),
  tool_calls: z.array(toolCall).nullish(),
});
const tool = z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() });

const body = z.looseObject({
  ...answerFields,
  messages: z.array(message, { error: 'must be an array of messages' }).min(1),
  tools: z.array(tool).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  enable_thinking: z.boolean().nullish(),
});

/** Reads the body of `POST /v1/chat/completions`; throws a 400 that names the field at fault. */
export function chatRequest(input: unknown): ChatRequest {
  const parsed = parseBody(body, input);
  const tools = parsed.tool_choice === 'none' ? [] : (parsed.tools ?? []);
  const thinking = parsed.enable_thinking;
  return {
    ...answerRequest(parsed),
    messages: parsed.messages.map(chatMessage),
    tools: tools.length === 0 ? null : tools,
    templateArguments: {
      ...(typeof thinking === 'boolean' ? { enable_thinking: thinking } : {}),
      ...parsed.chat_template_kwargs,
    },
  };
}

function chatMessage(source: z.infer<typeof message>, index: number): ChatMessage {
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

function flatten(parts: readonly z.infer<typeof part>[], index: number): string {
  return parts
    .map(({ type, text }, i) => {
      if (typeof text === 'string') return text;
      const field = `messages.${index}.content.${i}`;
      throw invalidField(field, `${field}: the embedded engine reads text only, not parts of type "${type}"`);
    })
    .join('');
}
