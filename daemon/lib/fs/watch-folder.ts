import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { pollStats } from './poll-stats.ts';

const DEBOUNCE_MS = 150;
const POLL_MS = 2000;
/** Files of a folder that are polled. */
const MAX_POLLED = 1024;

/**
 * Calls `changed` shortly after a file in `folder` whose name `isRelevant` accepts was written, replaced, created
 * or removed, also when the folder itself is created later. Events arrive at once. Polling every two seconds
 * covers the targets of symbolic links and file systems without events. Returns a function that stops watching.
 * Does not keep the process running.
 */
export function watchFolder(
  folder: string,
  isRelevant: (name: string) => boolean,
  changed: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let events: FSWatcher | null = null;
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(changed, DEBOUNCE_MS);
    timer.unref();
  };
  const listen = () => {
    events?.close();
    events = openEvents(folder, (name) => {
      if (name === null || isRelevant(name)) schedule();
    });
  };
  const poll = () => {
    listen();
    schedule();
  };
  listen();
  const endPoll = pollStats(() => [folder, ...filesIn(folder, isRelevant)], POLL_MS, poll);
  return () => {
    clearTimeout(timer);
    events?.close();
    endPoll();
  };
}

/** Returns the paths of the relevant files. An unreadable folder counts as empty. */
function filesIn(folder: string, isRelevant: (name: string) => boolean): string[] {
  try {
    const names = readdirSync(folder).filter(isRelevant);
    return names.slice(0, MAX_POLLED).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Returns null while the folder is missing or the system has no free watches. Polling still works then. */
function openEvents(folder: string, onName: (name: string | null) => void): FSWatcher | null {
  try {
    const events = watch(folder, { persistent: false }, (_event, name) => onName(name));
    events.on('error', () => events.close());
    return events;
  } catch {
    return null;
  }
}
