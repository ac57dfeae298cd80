const WINDOW_MS = 60_000;
const FREE_ATTEMPTS = 100;
const STEP_MS = 10;
const MAX_DELAY_MS = 1_000;
/** Beyond this many events the delay grows no further, so no more need be remembered. */
const MAX_EVENTS = FREE_ATTEMPTS + MAX_DELAY_MS / STEP_MS;

/**
 * Slows guessing from many addresses at once, which a limit per address cannot see: more than 100 attempts in a minute
 * over all addresses wait a little longer each, at most one second. It never refuses anybody.
 */
export function createLoginThrottle(clock: () => number = () => performance.now()): { delayMs(): number } {
  let events: number[] = [];
  return {
    /** Counts one attempt and answers how many milliseconds it should wait. */
    delayMs() {
      const nowMs = clock();
      const from = events.findIndex((at) => at + WINDOW_MS > nowMs);
      events = from === -1 ? [] : events.slice(Math.max(from, events.length + 1 - MAX_EVENTS));
      events.push(nowMs);
      return Math.max(0, events.length - FREE_ATTEMPTS) * STEP_MS;
    },
  };
}
