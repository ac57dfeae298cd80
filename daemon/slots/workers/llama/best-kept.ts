/** What a free sequence holds: its tokens, and how many of its leading ones are wanted. */
export interface Kept {
  readonly shared: number;
  readonly held: number;
}

/**
 * Which of the free sequences (the one unused for longest first) is taken for a prompt: the one that shares most with it,
 * provided that no more is lost than is shared. So a common beginning does not cost a long conversation; then an empty one
 * is taken, else the one unused for longest. 0 when there is none.
 */
export function bestKept(free: readonly Kept[]): number {
  const fitting = free.filter(({ shared, held }) => shared > 0 && 2 * shared >= held);
  const most = Math.max(0, ...fitting.map(({ shared }) => shared));
  if (most > 0) return free.findIndex((kept) => kept.shared === most && fitting.includes(kept));
  return Math.max(
    0,
    free.findIndex(({ held }) => held === 0),
  );
}
