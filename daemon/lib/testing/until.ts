import { setTimeout as pause } from 'node:timers/promises';

/** Resolves once `done()` returns true. Rejects after `limitMs` with the description `what`. */
export async function until(
  done: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 20_000,
): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await done())) {
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms for ${what}`);
    await pause(15);
  }
}
