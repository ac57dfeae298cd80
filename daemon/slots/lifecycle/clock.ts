/** Time as the slots see it, so that back-off and idle times are tested without waiting. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `act` once after `ms`, however long that is; the answer cancels it. Never keeps the process alive. */
  after(ms: number, act: () => void): () => void;
}

/**
 * Unix milliseconds that follow `wall` forward, over a sleep of the machine too, and never go back: when the clock is set back
 * they go on evenly, so that nothing that was due in a moment is due in years.
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

/** Beyond it Node takes a time for 1 ms. */
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
