import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { pollStats } from '../lib/fs/poll-stats.ts';

const DEBOUNCE_MS = 100;
const POLL_MS = 2000;

/**
 * Calls `changed` shortly after one of `names` in `folder` was written, replaced, created or removed. Events of the
 * folder come at once; a look at the files' times every two seconds is the net for links and file systems without
 * events. The answer ends it. Never keeps the process alive.
 */
export function watchFiles(folder: string, names: readonly string[], changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(changed, DEBOUNCE_MS);
    timer.unref();
  };
  const watcher = folderEvents(folder, (name) => {
    if (name === null || names.includes(name)) schedule();
  });
  const endPoll = pollStats(
    names.map((name) => join(folder, name)),
    POLL_MS,
    schedule,
  );
  return () => {
    clearTimeout(timer);
    watcher?.close();
    endPoll();
  };
}

/** Without events (no inotify watches left) the poll alone goes on. */
function folderEvents(folder: string, onName: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => onName(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
