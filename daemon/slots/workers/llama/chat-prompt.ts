import type { ChatMessage } from './chat-message.ts';
import type { ChatRequest } from './chat-request.ts';
import type { ChatTemplate } from './chat-template.ts';
import { openThinkingMark } from './reasoning.ts';
import { HARMONY_FINAL, openedHeader } from './tools/harmony.ts';
import { forcedTools } from './tools/tool-choice.ts';

/** The prompt of a chat. */
export interface ChatPrompt {
  text: string;
  /** The prompt without the beginning of the answer that the caller wrote. */
  head: string;
}

/**
 * Renders the prompt of a chat. A text of the assistant at its end is the beginning of the answer: the model
 * continues it, as llama-server and Anthropic's API do (docs/spec/contract.md#prefill). Throws a 400 when the
 * template refuses the messages.
 */
export function chatPrompt(template: ChatTemplate, request: ChatRequest): ChatPrompt {
  const { messages, tools, templateArguments } = request;
  const prefill = prefillOf(request);
  const head = template.render({
    messages: prefill === null ? messages : messages.slice(0, -1),
    tools: tools?.offered ?? null,
    templateArguments,
  });
  if (prefill === null) return { head, text: head };
  const opened = head + opening(head, prefill, template.family.id === 'harmony');
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
