/** Maximum number of suggestions. */
const MAX_SUGGESTIONS = 5;
/** Maximum number of names that are compared; a real catalogue is far smaller. */
const MAX_NAMES = 2_000;
/** Names longer than this are not compared. */
const MAX_LENGTH = 128;

/** Returns the edit distance of two short texts, or `limit + 1` as soon as it exceeds the limit. */
export function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    if (Math.min(...next) > limit) return limit + 1;
    row = next;
  }
  return Math.min(row[b.length] as number, limit + 1);
}

/**
 * Returns names similar to `requested`, best first: a small edit distance, or one contains the other. Bounded in
 * number and work.
 */
export function suggestions(requested: string, names: readonly string[]): string[] {
  if (requested.length > MAX_LENGTH) return [];
  const wanted = requested.toLowerCase();
  const limit = Math.max(1, Math.min(4, Math.floor(wanted.length / 2)));
  return names
    .slice(0, MAX_NAMES)
    .filter((name) => name.length <= MAX_LENGTH)
    .map((name) => ({ name, score: score(wanted, name.toLowerCase(), limit) }))
    .filter(({ score }) => score <= limit + 1)
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function score(wanted: string, name: string, limit: number): number {
  const near = distance(wanted, name, limit);
  if (near <= limit) return near;
  const related =
    wanted.length >= 3 && (name.includes(wanted) || (name.length >= 3 && wanted.includes(name)));
  return related ? limit + 1 : limit + 2;
}
