import type { ChatMessage } from '../chat-message.ts';

/**
 * Returns the message with its reasoning before a call under the name that gpt-oss's template reads
 * (`thinking`). That template uses the content of such a message as reasoning and refuses both at once.
 */
export function withThinking(message: ChatMessage): ChatMessage {
  const { reasoning_content: thoughts, tool_calls: calls, thinking, content } = message;
  const isNeeded = calls !== undefined && thinking === undefined && content === '';
  return isNeeded && typeof thoughts === 'string' && thoughts !== ''
    ? { ...message, thinking: thoughts }
    : message;
}
