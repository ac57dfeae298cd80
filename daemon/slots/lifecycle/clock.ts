/** The clock of the slots. A test replaces it, so that back-off and idle times need no waiting. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /**
   * Calls `act` once after `ms`, which may exceed Node's maximum. Returns a function that cancels it. Never keeps
   * the process alive.
   */
  after(ms: number, act: () => void): () => void;
}

/**
 * Returns a monotonic clock in Unix milliseconds that follows `wall` forward, also over a suspend of the machine.
 * When the wall clock is set back it keeps counting, so that timers are not delayed.
 */
export function monotonicNow(wall = () => Date.now(), steady = () => performance.now()): () => number {
  let [last, at] = [wall(), steady()];
  return () => {
    const now = steady();
    last = Math.max(wall(), last + now - at);
    at = now;
    return Math.floor(last);
  };
}

/** Maximum delay of a Node timer; a longer one fires after 1 ms. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: monotonicNow(),
  after(ms, act) {
    let timer: NodeJS.Timeout | undefined;
    const wait = (left: number): void => {
      const step = Math.min(left, MAX_TIMEOUT_MS);
      timer = setTimeout(() => (left > step ? wait(left - step) : act()), step);
      timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};
