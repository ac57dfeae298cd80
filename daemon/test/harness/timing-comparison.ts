/** Whether two acts can be told apart by the time that they take (Welch's t, as leakage tests have it). */
import { randomFrom, scale, seed } from './scale.ts';

/** Beyond this two means differ. */
export const MAX_T = 4.5;
/** Slow samples are those of a machine that did something else. */
const KEPT = 0.8;
/** A difference that is there is there each time. */
const TRIES = 4;

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
const variance = (values: readonly number[], middle: number): number =>
  values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);

/** The distance of two means in standard errors. */
export function welch(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  return (meanA - meanB) / Math.sqrt(variance(a, meanA) / a.length + variance(b, meanB) / b.length);
}

/** Nanoseconds that one act takes. */
export type Duration = (which: 0 | 1) => number | Promise<number>;

/** The t of one round in which both are done in an order that nobody foresees. */
async function measured(duration: Duration, samples: number, random: () => number): Promise<number> {
  const times: { of: 0 | 1; ns: number }[] = [];
  for (let n = 0; n < 2 * scale(samples); n++) {
    const of = random() < 0.5 ? 0 : 1;
    times.push({ of, ns: await duration(of) });
  }
  const limit = times.map(({ ns }) => ns).sort((a, b) => a - b)[Math.floor(times.length * KEPT)] as number;
  const kept = (which: 0 | 1) =>
    times.filter(({ of, ns }) => of === which && ns <= limit).map(({ ns }) => ns);
  return Math.abs(welch(kept(0), kept(1)));
}

/** The t of each try; the last one is below `MAX_T` unless all of them saw a difference. */
export async function timesApart(suite: string, samples: number, duration: Duration): Promise<number[]> {
  const random = randomFrom(seed(suite));
  const seen: number[] = [];
  while (seen.length < TRIES && (seen.at(-1) ?? MAX_T) >= MAX_T) {
    seen.push(await measured(duration, samples, random));
  }
  return seen;
}
