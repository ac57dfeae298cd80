/** Time as the slots see it, so that back-off and idle times are tested without waiting. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `act` once after `ms`; the answer cancels it. Never keeps the process alive. */
  after(ms: number, act: () => void): () => void;
}

/**
 * Unix milliseconds that follow `wall` forward, over a sleep of the machine too, and never go back: when the clock is set back
 * they go on evenly, so that nothing that was due in a moment is due in years.
 */
export function forward(wall = () => Date.now(), steady = () => performance.now()): () => number {
  let [last, at] = [wall(), steady()];
  return () => {
    const now = steady();
    last = Math.max(wall(), last + now - at);
    at = now;
    return Math.floor(last);
  };
}

export const systemClock: Clock = {
  now: forward(),
  after(ms, act) {
    const timer = setTimeout(act, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
