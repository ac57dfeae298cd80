import { callArguments } from '../dialects/json.ts';
import { type CallItem, type Item, type MessageItem, type Part, textOf } from './items.ts';
import type { SessionConfig } from './session-config.ts';

type Json = Record<string, unknown>;

export interface ChatRequest {
  readonly model: string;
  readonly instructions: string;
  readonly items: readonly Item[];
  readonly tools: SessionConfig['tools'];
  readonly toolChoice: SessionConfig['toolChoice'];
  readonly maxOutputTokens: number | 'inf';
}

/** What an empty conversation begins with: engines refuse a chat without messages, and OpenAI's model greets. */
const OPENING: Json = { role: 'user', content: 'Hello.' };

/** Converts the conversation to the body of a streamed chat completion. Pure. */
export function chatBody(request: ChatRequest): Json {
  const instructions =
    request.instructions.trim() === '' ? [] : [{ role: 'system', content: request.instructions }];
  const all = [...instructions, ...messages(request.items)];
  const tools = request.tools.map(({ type, ...tool }) => ({ type, function: tool }));
  return {
    model: request.model,
    messages: all.length > 0 ? all : [OPENING],
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && { tools, tool_choice: choice(request.toolChoice) }),
    ...(request.maxOutputTokens !== 'inf' && { max_tokens: request.maxOutputTokens }),
  };
}

const choice = (requested: ChatRequest['toolChoice']): unknown =>
  typeof requested === 'string' ? requested : { type: 'function', function: { name: requested.name } };

/** Moves tool results directly behind their calls, which engines require. */
function messages(items: readonly Item[]): Json[] {
  const results = resultsIn(items);
  const out: Json[] = [];
  let pending: Json[] = [];
  for (const item of items) {
    if (item.type === 'function_call') pending.push(...addCall(out, item, results));
    else {
      out.push(...pending);
      pending = [];
      if (item.type === 'message') addMessage(out, item);
    }
  }
  return [...out, ...pending];
}

const resultsIn = (items: readonly Item[]): ReadonlyMap<string, string> =>
  new Map(
    items.flatMap((item) =>
      item.type === 'function_call_output' ? [[item.call_id, item.output] as const] : [],
    ),
  );

/**
 * Merges calls of one turn into one message, together with the text before them. Returns the result message;
 * empty for a call that is left out because it was interrupted, is invalid, or has no result. Engines refuse
 * a chat with any of these.
 */
function addCall(out: Json[], item: CallItem, results: ReadonlyMap<string, string>): Json[] {
  const { call_id: id, name, status } = item;
  const args = callArguments(item.arguments);
  const content = results.get(id);
  if (status !== 'completed' || args === undefined || content === undefined) return [];
  const call = { id, type: 'function', function: { name, arguments: args } };
  const last = out.at(-1);
  if (last?.role !== 'assistant') out.push({ role: 'assistant', content: null, tool_calls: [call] });
  else last.tool_calls = [...((last.tool_calls as Json[] | undefined) ?? []), call];
  return [{ role: 'tool', tool_call_id: id, content }];
}

/** Leaves out a message without content, such as silence. */
function addMessage(out: Json[], { role, content }: MessageItem): void {
  const parts = content.map(chatPart).filter((part) => part !== null);
  if (parts.length === 0) return;
  const texts = parts.filter((part) => part.type === 'text');
  const plain = texts.length === parts.length;
  out.push({ role, content: plain ? texts.map(({ text }) => text).join('\n') : parts });
}

function chatPart(part: Part): Json | null {
  if (part.type === 'input_image') {
    const { image_url: url, detail } = part;
    return { type: 'image_url', image_url: detail === undefined ? { url } : { url, detail } };
  }
  const text = textOf(part);
  return text === '' ? null : { type: 'text', text };
}
