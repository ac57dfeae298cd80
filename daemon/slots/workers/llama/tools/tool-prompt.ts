import type { ChatMessage } from '../chat-message.ts';
import type { Tool } from './tool-choice.ts';

/** Describes the tools in text for a model whose template does not support tools. */
export function toolInstructions(tools: readonly Tool[]): string {
  const list = tools.map((tool) => JSON.stringify(tool.function)).join('\n');
  return (
    `You can call these functions:\n${list}\n` +
    'To call one, answer with nothing but a JSON object of this form: ' +
    '{"name": "the name of the function", "arguments": {"parameter": "value"}}. Otherwise answer in words.'
  );
}

/** Converts calls and results to ordinary messages for a template without tool support. */
export const plainMessages = (messages: readonly ChatMessage[]): ChatMessage[] =>
  callsAsText(messages).map((message) =>
    message.role === 'tool'
      ? { role: 'user', content: `Result of the function call:\n${message.content}` }
      : message,
  );

/** Writes calls as text for a template that ignores them. */
export function callsAsText(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message) => {
    if (message.tool_calls === undefined) return message;
    const { tool_calls: calls, ...other } = message;
    const written = calls.map(({ function: { name, arguments: args } }) =>
      JSON.stringify({ name, arguments: typeof args === 'string' ? parsed(args) : args }),
    );
    return { ...other, content: [message.content, ...written].filter((text) => text !== '').join('\n') };
  });
}

/** Adds `words` to the first system message. */
export function withInstructions(messages: readonly ChatMessage[], words: string): ChatMessage[] {
  const at = messages.findIndex((message) => message.role === 'system');
  if (at < 0) return [{ role: 'system', content: words }, ...messages];
  return messages.map((message, i) =>
    i === at
      ? { ...message, content: [words, message.content].filter((text) => text !== '').join('\n\n') }
      : message,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
