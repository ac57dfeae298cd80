import { type FSWatcher, watch } from 'node:fs';
import { pollStats } from './poll-stats.ts';

const DEBOUNCE_MS = 150;
const POLL_MS = 2000;

/**
 * Calls `changed` shortly after something in `folder` was written, replaced, created or removed, also when
 * the folder itself is created later. Returns a function that stops watching. Does not keep the process
 * running.
 */
export function watchFolder(folder: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let events: FSWatcher | null = null;
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(changed, DEBOUNCE_MS);
    timer.unref();
  };
  const listen = () => {
    events?.close();
    events = openEvents(folder, schedule);
  };
  const poll = () => {
    listen();
    schedule();
  };
  listen();
  const endPoll = pollStats([folder], POLL_MS, poll);
  return () => {
    clearTimeout(timer);
    events?.close();
    endPoll();
  };
}

/** Returns null while the folder is missing or the system has no free watches. Polling still works then. */
function openEvents(folder: string, schedule: () => void): FSWatcher | null {
  try {
    const events = watch(folder, { persistent: false }, schedule);
    events.on('error', () => events.close());
    return events;
  } catch {
    return null;
  }
}
