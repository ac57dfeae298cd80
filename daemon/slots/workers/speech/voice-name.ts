/** Names that OpenAI's clients send when their user chose none; they mean the engine's own voice. */
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
const NAMED_MOST = 40;

/** Position of the voice that a name means, by its letters in any case; `own` for OpenAI's names; null for no voice. */
export function voiceNamed(ids: readonly string[], asked: string, own: number): number | null {
  const found = ids.indexOf(asked);
  if (found >= 0) return found;
  const lower = asked.toLowerCase();
  const alike = ids.findIndex((id) => id.toLowerCase() === lower);
  if (alike >= 0) return alike;
  return OPENAI_VOICES.has(lower) ? own : null;
}

/** What is told of a name that no voice has, with those there are. */
export function noSuchVoice(ids: readonly string[], asked: string): string {
  const more = ids.length > NAMED_MOST ? ` and ${ids.length - NAMED_MOST} more` : '';
  return `there is no voice "${asked.slice(0, 64)}"; there is ${ids.slice(0, NAMED_MOST).join(', ')}${more}`;
}
