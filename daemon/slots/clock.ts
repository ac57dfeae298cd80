/** Time as the slots see it, so that back-off and idle times are tested without waiting. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `act` once after `ms`; the answer cancels it. Never keeps the process alive. */
  after(ms: number, act: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
