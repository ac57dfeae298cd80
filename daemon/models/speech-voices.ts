/** Maximum speakers of one model. */
const MAX_VOICES = 2_048;
/** The name of a single voice without a name. */
export const ONLY_VOICE = 'default';

const NAME = /^[\w.+ -]{1,64}$/;

function named(names: readonly string[], count: number): string[] | null {
  const clean = names.map((name) => name.trim());
  const fits = clean.length === count && clean.every((name) => NAME.test(name));
  return fits && new Set(clean).size === count ? clean : null;
}

/** Returns names by speaker number from the `speaker_id_map` of a voice's JSON file. */
function fromMap(map: unknown, count: number): string[] | null {
  if (typeof map !== 'object' || map === null) return null;
  const entries = Object.entries(map).filter(([, number]) => Number.isInteger(number));
  const inOrder = entries.sort(([, a], [, b]) => Number(a) - Number(b)).map(([name]) => name);
  return named(inOrder, count);
}

/**
 * Returns the voices of a speech model by number: the names in its metadata, else those of its JSON file,
 * else the numbers. A single unnamed speaker is `default`. Pure.
 */
export function voicesOf(metadata: Readonly<Record<string, string>>, json: unknown): string[] {
  const count = Math.min(MAX_VOICES, Math.max(1, Math.trunc(Number(metadata.n_speakers)) || 1));
  const listed =
    metadata.speaker_names === undefined ? null : named(metadata.speaker_names.split(','), count);
  const mapped = fromMap((json as { speaker_id_map?: unknown } | null)?.speaker_id_map, count);
  if (listed !== null || mapped !== null) return (listed ?? mapped) as string[];
  return count === 1 ? [ONLY_VOICE] : Array.from({ length: count }, (_, number) => String(number));
}
