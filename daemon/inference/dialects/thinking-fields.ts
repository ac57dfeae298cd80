/** Efforts that request little or no reasoning. */
const WITHOUT: ReadonlySet<string> = new Set(['none', 'minimal']);

/**
 * Returns what an effort means in a chat: the word itself, for models with several degrees, and the switch
 * that most thinking models have. Without an effort, the slot and the registry decide
 * (docs/spec/specification.md#deviation-thinking).
 */
export function thinkingFields(effort: string | null): Record<string, unknown> {
  if (effort === null) return {};
  return { reasoning_effort: effort, enable_thinking: !WITHOUT.has(effort) };
}
