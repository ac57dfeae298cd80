const WINDOW_MS = 60_000;
const FREE_ATTEMPTS = 100;
const STEP_MS = 10;
const MAX_DELAY_MS = 1_000;
/** More events do not increase the delay, so they are not stored. */
const MAX_EVENTS = FREE_ATTEMPTS + MAX_DELAY_MS / STEP_MS;

/**
 * Slows down guessing from many addresses at once, which a limit per address cannot detect. More than 100
 * attempts per minute over all addresses are delayed increasingly, by at most one second. Never refuses an
 * attempt.
 */
export function createLoginThrottle(clock: () => number = () => performance.now()): { delayMs(): number } {
  let events: number[] = [];
  return {
    /** Counts one attempt and returns its delay in milliseconds. */
    delayMs() {
      const nowMs = clock();
      const from = events.findIndex((at) => at + WINDOW_MS > nowMs);
      events = from === -1 ? [] : events.slice(Math.max(from, events.length + 1 - MAX_EVENTS));
      events.push(nowMs);
      return Math.max(0, events.length - FREE_ATTEMPTS) * STEP_MS;
    },
  };
}
