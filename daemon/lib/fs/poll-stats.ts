import { type Stats, statSync } from 'node:fs';

function fingerprint(path: string): string {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}

/** Returns the state of `path`. An unreachable path counts as absent. */
function fingerprintOrEmpty(path: string): string {
  try {
    return fingerprint(path);
  } catch {
    return '';
  }
}

/**
 * Polls `paths` and calls `changed` when the state of one of them differs from the last poll. The first state
 * is read before this returns, so that no change is missed. Covers file systems without events. Returns a
 * function that stops polling. Does not keep the process running.
 */
export function pollStats(paths: readonly string[], everyMs: number, changed: () => void): () => void {
  let last = paths.map(fingerprintOrEmpty);
  const timer = setInterval(() => {
    const current = paths.map(fingerprintOrEmpty);
    const differs = current.some((each, index) => each !== last[index]);
    last = current;
    if (differs) changed();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
