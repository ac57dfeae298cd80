/** What a free sequence holds: its tokens, and how many leading tokens match the prompt. */
export interface CachedPrefix {
  readonly shared: number;
  readonly held: number;
}

export interface Free extends CachedPrefix {
  /** True: its number is adjacent to that of a running sequence, so that both are evaluated in one pass. */
  readonly near: boolean;
}

/**
 * Selects the free sequence for a prompt; `free` is sorted by last use, oldest first. Prefers the one that
 * shares the longest prefix, if it does not lose more tokens than it shares, so that a common prefix does not
 * evict a long conversation. Otherwise prefers an empty one, then the least recently used one; in both cases
 * rather one that is near. Returns 0 when there is no preference.
 */
export function selectSequence(free: readonly Free[]): number {
  const fitting = free.filter(({ shared, held }) => shared > 0 && 2 * shared >= held);
  const most = Math.max(0, ...fitting.map(({ shared }) => shared));
  if (most > 0) return free.findIndex((entry) => entry.shared === most && fitting.includes(entry));
  const preferences = [({ held, near }: Free) => held === 0 && near, isEmpty, ({ near }: Free) => near];
  return Math.max(
    0,
    preferences.map((preference) => free.findIndex(preference)).find((found) => found >= 0) ?? 0,
  );
}

const isEmpty = ({ held }: Free): boolean => held === 0;
