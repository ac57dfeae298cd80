import { setTimeout as pause } from 'node:timers/promises';

/** A check is often a request: a long wait checks less often than a short one. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 50;

/** Resolves once `done()` returns true. Rejects after `limitMs` with the description `what`. */
export async function until(
  done: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 20_000,
): Promise<void> {
  const start = Date.now();
  while (!(await done())) {
    const elapsedMs = Date.now() - start;
    if (elapsedMs > limitMs) throw new Error(`waited ${limitMs} ms for ${what}`);
    await pause(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, elapsedMs / 10)));
  }
}
