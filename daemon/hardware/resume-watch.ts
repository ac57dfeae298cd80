const EVERY_MS = 10_000;
/**
 * The wall clock advanced this much more than the monotonic clock: the machine slept, or the clock was set,
 * which is harmless.
 */
const GAP_MS = 15_000;

export interface Clock {
  /** Milliseconds that advance while the machine sleeps. */
  wall(): number;
  /** Milliseconds that stop while the machine sleeps. */
  awake(): number;
}

const CLOCK: Clock = { wall: () => Date.now(), awake: () => performance.now() };

/** Returns a function that reports whether the machine slept since the previous call. */
export function sleepDetector(clock: Clock = CLOCK): () => boolean {
  let [wall, awake] = [clock.wall(), clock.awake()];
  return () => {
    const slept = clock.wall() - wall - (clock.awake() - awake);
    [wall, awake] = [clock.wall(), clock.awake()];
    return slept > GAP_MS;
  };
}

/**
 * Calls `onResume` after the machine slept. Returns a function that stops the watch. Does not keep the
 * process alive.
 */
export function watchResume(onResume: () => void): () => void {
  const slept = sleepDetector();
  const timer = setInterval(() => {
    if (slept()) onResume();
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
