/** Default voice names of OpenAI's clients. They select the engine's own voice. */
const OPENAI_VOICES: ReadonlySet<string> = new Set([
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
]);
const MAX_NAMED = 40;

/**
 * Returns the index of a voice by its case-insensitive name; `own` for OpenAI's names; null for an unknown
 * name.
 */
export function findVoice(ids: readonly string[], requested: string, own: number): number | null {
  const found = ids.indexOf(requested);
  if (found >= 0) return found;
  const lower = requested.toLowerCase();
  const alike = ids.findIndex((id) => id.toLowerCase() === lower);
  if (alike >= 0) return alike;
  return OPENAI_VOICES.has(lower) ? own : null;
}

/** Returns the error message for an unknown voice, with the available ones. */
export function unknownVoiceMessage(ids: readonly string[], requested: string): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `there is no voice "${requested.slice(0, 64)}"; available: ${ids.slice(0, MAX_NAMED).join(', ')}${more}`;
}
