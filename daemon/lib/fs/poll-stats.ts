import { type Stats, statSync } from 'node:fs';

function print(path: string): string {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}

/** What `path` looks like now; out of reach is like absent. */
function look(path: string): string {
  try {
    return print(path);
  } catch {
    return '';
  }
}

/**
 * Calls `changed` when one of `paths` looks different from the last look; the first look is taken before this returns,
 * so that nothing is missed. The net for file systems without events. The answer ends it. Never keeps the process alive.
 */
export function pollStats(paths: readonly string[], everyMs: number, changed: () => void): () => void {
  let last = paths.map(look);
  const timer = setInterval(() => {
    const now = paths.map(look);
    const differs = now.some((each, index) => each !== last[index]);
    last = now;
    if (differs) changed();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
