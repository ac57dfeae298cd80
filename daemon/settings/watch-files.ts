import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { pollStats } from '../lib/fs/poll-stats.ts';

const DEBOUNCE_MS = 100;
const POLL_MS = 2000;

/**
 * Calls `changed` shortly after one of `names` in `folder` was written, replaced, created or removed. Folder
 * events arrive at once. Polling the file times every two seconds covers links and file systems without
 * events. Returns a function that stops watching. Does not keep the process running.
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
  const paths = names.map((name) => join(folder, name));
  const endPoll = pollStats(() => paths, POLL_MS, schedule);
  return () => {
    clearTimeout(timer);
    watcher?.close();
    endPoll();
  };
}

/** Returns null without events (no inotify watches left). Polling still works then. */
function folderEvents(folder: string, onName: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => onName(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
