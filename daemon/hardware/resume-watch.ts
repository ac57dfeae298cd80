const EVERY_MS = 10_000;
/** The wall clock ran this much further than the machine: it slept (or the clock was set, which does no harm). */
const GAP_MS = 15_000;

export interface Clock {
  /** Milliseconds that go on while the machine sleeps. */
  wall(): number;
  /** Milliseconds that stand still while the machine sleeps. */
  awake(): number;
}

const CLOCK: Clock = { wall: () => Date.now(), awake: () => performance.now() };

/** Answers, at each call, whether the machine slept since the call before. */
export function sleepDetector(clock: Clock = CLOCK): () => boolean {
  let [wall, awake] = [clock.wall(), clock.awake()];
  return () => {
    const slept = clock.wall() - wall - (clock.awake() - awake);
    [wall, awake] = [clock.wall(), clock.awake()];
    return slept > GAP_MS;
  };
}

/** Calls `onResume` after the machine slept; the answer ends the watch. Never keeps the process alive. */
export function watchResume(onResume: () => void): () => void {
  const slept = sleepDetector();
  const timer = setInterval(() => {
    if (slept()) onResume();
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
