import type { ChatMessage } from './chat-message.ts';
import type { ChatRequest } from './chat-request.ts';
import type { ChatTemplate, Conversation } from './chat-template.ts';
import { openThinkingMark } from './reasoning.ts';
import { HARMONY_FINAL, openedHeader } from './tools/harmony.ts';
import { forcedTools } from './tools/tool-choice.ts';

/** The prompt of a chat. */
export interface ChatPrompt {
  text: string;
  /** The prompt without the beginning of the answer that the caller wrote. */
  head: string;
}

/** Renders the prompt of a chat. Throws a 400 when the template refuses the messages. */
export function chatPrompt(template: ChatTemplate, request: ChatRequest): ChatPrompt {
  return completePrompt(template, request, template.render(conversationOf(request)));
}

/** Returns what the template renders: the chat without the beginning of the answer. */
export function conversationOf(request: ChatRequest): Conversation {
  const { messages, tools, templateArguments } = request;
  return {
    messages: prefillOf(request) === null ? messages : messages.slice(0, -1),
    tools: tools?.offered ?? null,
    templateArguments,
  };
}

/**
 * Adds the beginning of the answer to a rendered chat. A text of the assistant at the end of a chat is the beginning:
 * the model continues it, as llama-server and Anthropic's API do (docs/spec/contract.md#prefill).
 */
export function completePrompt({ family }: ChatTemplate, request: ChatRequest, head: string): ChatPrompt {
  const prefill = prefillOf(request);
  if (prefill === null) return { head, text: head };
  const opened = head + opening(head, prefill, family.id === 'harmony');
  return { head: opened, text: opened + prefill.content };
}

/**
 * Returns the last message when it is the beginning of the answer. A grammar describes whole answers, so that one is
 * never continued. Neither is the only message of a chat.
 */
function prefillOf({ messages, tools, structure }: ChatRequest): ChatMessage | null {
  const last = messages.at(-1);
  const isText = last?.role === 'assistant' && last.tool_calls === undefined && last.content !== '';
  if (!isText || messages.length < 2) return null;
  return structure === null && forcedTools(tools) === null ? last : null;
}

/** Returns the text between the prompt and the answer: the answer's header, or the end of its reasoning. */
function opening(head: string, { reasoning_content: thoughts }: ChatMessage, isHarmony: boolean): string {
  if (isHarmony) return openedHeader(head) === '' ? HARMONY_FINAL : '';
  const mark = openThinkingMark(head);
  if (mark === null) return '';
  return `${typeof thoughts === 'string' ? thoughts.trim() : ''}\n${mark.close}\n\n`;
}
