/** What a free sequence holds: its tokens, and how many of its leading ones are wanted. */
export interface CachedPrefix {
  readonly shared: number;
  readonly held: number;
}

export interface Free extends CachedPrefix {
  /** True: its number is next to that of one in use, so that both go through the model at once. */
  readonly near: boolean;
}

/**
 * Which of the free sequences (the one unused for longest first) is taken for a prompt: the one that shares most with it,
 * provided that no more is lost than is shared. So a common beginning does not cost a long conversation; then an empty one
 * is taken, else the one unused for longest; in both cases rather one that is near. 0 when there is none.
 */
export function selectSequence(free: readonly Free[]): number {
  const fitting = free.filter(({ shared, held }) => shared > 0 && 2 * shared >= held);
  const most = Math.max(0, ...fitting.map(({ shared }) => shared));
  if (most > 0) return free.findIndex((kept) => kept.shared === most && fitting.includes(kept));
  const wishes = [({ held, near }: Free) => held === 0 && near, isEmpty, ({ near }: Free) => near];
  return Math.max(0, wishes.map((wish) => free.findIndex(wish)).find((found) => found >= 0) ?? 0);
}

const isEmpty = ({ held }: Free): boolean => held === 0;
