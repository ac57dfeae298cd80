import type { ChatMessage } from '../chat-message.ts';
import type { Tool } from './tool-choice.ts';

/** Tells the tools in words, for a model whose template does not know them. */
export function toolInstructions(tools: readonly Tool[]): string {
  const list = tools.map((tool) => JSON.stringify(tool.function)).join('\n');
  return (
    `You can call these functions:\n${list}\n` +
    'To call one, answer with nothing but a JSON object of this form: ' +
    '{"name": "the name of the function", "arguments": {"parameter": "value"}}. Otherwise answer in words.'
  );
}

/** Calls and their results as ordinary messages, for a template that knows no tools. */
export const plainMessages = (messages: readonly ChatMessage[]): ChatMessage[] =>
  callsAsText(messages).map((message) =>
    message.role === 'tool'
      ? { role: 'user', content: `Result of the function call:\n${message.content}` }
      : message,
  );

/** Calls as words, for a template that passes over them. */
export function callsAsText(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message) => {
    if (message.tool_calls === undefined) return message;
    const { tool_calls: calls, ...other } = message;
    const written = calls.map(({ function: { name, arguments: given } }) =>
      JSON.stringify({ name, arguments: typeof given === 'string' ? parsed(given) : given }),
    );
    return { ...other, content: [message.content, ...written].filter((text) => text !== '').join('\n') };
  });
}

/** Puts `words` before the conversation: into its system message, or into the first message where there is no such role. */
export function withInstructions(
  messages: readonly ChatMessage[],
  words: string,
  role: 'system' | 'user',
): ChatMessage[] {
  const at = messages.findIndex((message) => message.role === role);
  if (at < 0) return [{ role, content: words }, ...messages];
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
