/** Words of engines and providers for the finish reasons of OpenAI's API, in lower case. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  // Mistral, Gemini, Anthropic, TGI, Zhipu.
  length: ['length', 'model_length', 'max_tokens', 'max_length', 'model_context_window_exceeded'],
  // Zhipu, Gemini, Anthropic.
  content_filter: [
    'content_filter',
    'sensitive',
    'safety',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'refusal',
  ],
  tool_calls: ['tool_calls', 'tool_call', 'tool_use'],
  stop: ['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence'],
};
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries(KNOWN).flatMap(([reason, words]) => words.map((word) => [word, reason] as const)),
);

/** Returns the finish reason of OpenAI's API for that of an engine; an unknown one unchanged. */
export const finishReason = (reason: string): string => REASONS.get(reason.toLowerCase()) ?? reason;
