const DEFAULT = '1/50';

/** `SVC_TEST_SCALE` as a factor: `1/50`, `0.5` or `1`; anything else counts as the default. */
export function factor(text: string | undefined): number {
  const [over = '', under = '1'] = (text ?? '').split('/');
  const value = Number(over.trim() || Number.NaN) / Number(under);
  return Number.isFinite(value) && value > 0 ? value : factor(DEFAULT);
}

/** Returns how often a loop of the case catalogue runs: its count times the scale, at least twice. */
export const scale = (count: number): number =>
  Math.max(2, Math.ceil(count * factor(process.env.SVC_TEST_SCALE)));

/** Returns and prints the seed of a random suite: `SVC_TEST_SEED` to repeat one, else a new one. */
export function seed(suite: string): number {
  const configured = Number(process.env.SVC_TEST_SEED || Number.NaN);
  const value = Number.isInteger(configured) ? configured : Math.ceil(Math.random() * 2 ** 31);
  console.info(`${suite}: SVC_TEST_SEED=${value}`);
  return value;
}

/** Parameters of fast-check for a suite that `npm run fuzz` runs with its full count, or for `SVC_FUZZ_MS`. */
export function fuzzing(suite: string, count: number) {
  const limit = Number(process.env.SVC_FUZZ_MS) || 0;
  return {
    numRuns: scale(count),
    seed: seed(suite),
    ...(limit > 0 ? { interruptAfterTimeLimit: limit, markInterruptAsFailure: false } : {}),
  };
}

/** Returns a seeded generator of numbers in [0, 1) (mulberry32). */
export function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
