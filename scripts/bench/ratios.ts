/** One value for each figure of a run. */
export type Figures = Record<string, number>;

/** Median of the finite values; NaN when there is none. */
export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2) return sorted[middle] as number;
  return sorted.length ? ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2 : Number.NaN;
}

/** The distribution of a figure over all rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Returns the spread of the finite values; null when there is none. */
export function spreadOf(values: readonly number[]): Spread | null {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return null;
  return { median: median(finite), min: Math.min(...finite), max: Math.max(...finite) };
}

/** Applies `of` to each round in which both sides have a value. Returns null when there is no such round. */
export const roundByRound = (
  values: readonly number[],
  reference: readonly number[] | undefined,
  of: (value: number, base: number) => number,
): Spread | null => spreadOf((reference ?? []).map((base, round) => of(values[round] ?? Number.NaN, base)));

/** Returns the ratio of each value to the reference of the same round; null when there is nothing to compare. */
export const ratioTo = (values: readonly number[], reference: readonly number[] | undefined): Spread | null =>
  roundByRound(values, reference, (value, base) => value / base);

/** The value below which `share` of all lie (0 to 1); NaN when there is none. */
export function rank(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
