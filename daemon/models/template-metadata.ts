import { chatFormat } from './chat-format.ts';
import { asText, type Metadata } from './gguf-header.ts';

/** A switch that enables thinking unless turned off, and one that enables it only when turned on. */
const THINKS_UNLESS_OFF =
  /enable_thinking\s+is\s+(?:false|not\s+true)|not\s+enable_thinking(?!\s+is\s)|set\s+enable_thinking\s*=\s*true/i;
const THINKS_WHEN_ON =
  /enable_thinking\s+is\s+(?:true|not\s+false)|is\s+defined\s+and\s+enable_thinking\s*[-%)]|set\s+enable_thinking\s*=\s*false/i;

/** Returns the default of a chat template's thinking switch. Null without a switch or when it is unclear. */
export function thinkingDefault(template: string): boolean | null {
  if (!template.includes('enable_thinking')) return null;
  if (THINKS_UNLESS_OFF.test(template)) return true;
  return THINKS_WHEN_ON.test(template) ? false : null;
}

/** Joins all chat templates of a file: the default one and those for tools. */
export function templateText(metadata: Metadata): string {
  const named = Object.keys(metadata).filter((key) => key.startsWith('tokenizer.chat_template'));
  return named.map((key) => asText(metadata[key]) ?? '').join('\n');
}

export function templateMetadata(metadata: Metadata) {
  const template = templateText(metadata);
  const isPresent = template.trim() !== '';
  return {
    chatTemplate: isPresent,
    builtInTemplate: isPresent ? null : chatFormat(metadata['tokenizer.ggml.tokens']).id,
    capabilities: {
      tools: /\btools\b/.test(template),
      vision: false,
      reasoning: /enable_thinking|<think>|reasoning_content/.test(template),
    },
    enableThinking: thinkingDefault(template),
  };
}
