import { type Stats, statSync } from 'node:fs';

/** Of a folder only the identity counts: its times change with every temporary file in it. */
function fingerprint(path: string): string {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return '';
  return stats.isDirectory()
    ? `${stats.ino}`
    : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
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
 * Polls the files and folders that `paths` returns, following links, and calls `changed` when the list or the state
 * of one of them differs from the last poll. The first state is read before this returns, so that no change is
 * missed. Covers file systems without events. Returns a function that stops polling. Does not keep the process
 * running.
 */
export function pollStats(paths: () => readonly string[], everyMs: number, changed: () => void): () => void {
  const read = () => paths().map((path) => `${path}\0${fingerprintOrEmpty(path)}`);
  let last = read();
  const timer = setInterval(() => {
    const current = read();
    const differs = current.length !== last.length || current.some((each, index) => each !== last[index]);
    last = current;
    if (differs) changed();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
