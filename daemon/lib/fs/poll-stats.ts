import { type Stats, statSync } from 'node:fs';

function fingerprint(path: string): string {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}

/** What `path` looks like now; out of reach is like absent. */
function fingerprintOrEmpty(path: string): string {
  try {
    return fingerprint(path);
  } catch {
    return '';
  }
}

/**
 * Calls `changed` when one of `paths` looks different from the last look; the first look is taken before this returns,
 * so that nothing is missed. The net for file systems without events. The answer ends it. Never keeps the process alive.
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
