/** Compares the durations of two operations (Welch's t-test, as in timing leakage tests). */
import { randomFrom, scale, seed } from './scale.ts';

/** Above this value two means differ. */
export const MAX_T = 4.5;
/** Share of the fastest samples to use: slow ones come from other work of the machine. */
const FASTEST_SHARE = 0.8;
/** A real difference appears in every try. */
const TRIES = 4;

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
const variance = (values: readonly number[], middle: number): number =>
  values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);

/** Returns the distance of two means in standard errors. */
export function welch(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  return (meanA - meanB) / Math.sqrt(variance(a, meanA) / a.length + variance(b, meanB) / b.length);
}

/** Measures one operation in nanoseconds. */
export type Duration = (which: 0 | 1) => number | Promise<number>;

/** Returns the t of one round that runs both operations in random order. */
async function measureRound(duration: Duration, samples: number, random: () => number): Promise<number> {
  const times: { of: 0 | 1; ns: number }[] = [];
  for (let n = 0; n < 2 * scale(samples); n++) {
    const of = random() < 0.5 ? 0 : 1;
    times.push({ of, ns: await duration(of) });
  }
  const limit = times.map(({ ns }) => ns).sort((a, b) => a - b)[
    Math.floor(times.length * FASTEST_SHARE)
  ] as number;
  const durationsOf = (which: 0 | 1) =>
    times.filter(({ of, ns }) => of === which && ns <= limit).map(({ ns }) => ns);
  return Math.abs(welch(durationsOf(0), durationsOf(1)));
}

/** Returns the t of each try. The last one is below `MAX_T` unless every try found a difference. */
export async function tValues(suite: string, samples: number, duration: Duration): Promise<number[]> {
  const random = randomFrom(seed(suite));
  const tries: number[] = [];
  while (tries.length < TRIES && (tries.at(-1) ?? MAX_T) >= MAX_T) {
    tries.push(await measureRound(duration, samples, random));
  }
  return tries;
}
