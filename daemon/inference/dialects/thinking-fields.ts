/** Efforts that ask for no thoughts, or for next to none. */
const WITHOUT: ReadonlySet<string> = new Set(['none', 'minimal']);

/**
 * What an effort means in a chat: the word itself, for models that know degrees, and the switch that most thinking models
 * have. Nothing said leaves it to the slot and the registry (spec "Chat completions deviations", 5).
 */
export function thinkingFields(effort: string | null): Record<string, unknown> {
  if (effort === null) return {};
  return { reasoning_effort: effort, enable_thinking: !WITHOUT.has(effort) };
}
