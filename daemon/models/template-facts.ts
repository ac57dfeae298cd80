import { asText, type Metadata } from './gguf-header.ts';

/** A switch that thinks unless it is turned off, and one that thinks only when it is turned on. */
const THINKS_UNLESS_OFF =
  /enable_thinking\s+is\s+(?:false|not\s+true)|not\s+enable_thinking(?!\s+is\s)|set\s+enable_thinking\s*=\s*true/i;
const THINKS_WHEN_ON =
  /enable_thinking\s+is\s+(?:true|not\s+false)|is\s+defined\s+and\s+enable_thinking\s*[-%)]|set\s+enable_thinking\s*=\s*false/i;

/** What a chat template's own switch does when nobody sets it; null without a switch or when it can't be told. */
export function thinkingDefault(template: string): boolean | null {
  if (!template.includes('enable_thinking')) return null;
  if (THINKS_UNLESS_OFF.test(template)) return true;
  return THINKS_WHEN_ON.test(template) ? false : null;
}

/** Every chat template of a file as one text: the default one and those for tools. */
export function templateText(metadata: Metadata): string {
  const named = Object.keys(metadata).filter((key) => key.startsWith('tokenizer.chat_template'));
  return named.map((key) => asText(metadata[key]) ?? '').join('\n');
}

export function templateFacts(metadata: Metadata) {
  const template = templateText(metadata);
  return {
    chatTemplate: template.trim() !== '',
    capabilities: {
      tools: /\btools\b/.test(template),
      vision: false,
      reasoning: /enable_thinking|<think>|reasoning_content/.test(template),
    },
    enableThinking: thinkingDefault(template),
  };
}
