/** Median of the finite values; NaN when there is none. */
export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2) return sorted[middle] as number;
  return sorted.length ? ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2 : Number.NaN;
}

export interface Ratio {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Values against those of a reference in the same round; null where there is nothing to compare. */
export function ratioTo(values: readonly number[], reference: readonly number[] | undefined): Ratio | null {
  const ratios = (reference ?? [])
    .map((base, round) => (values[round] ?? Number.NaN) / base)
    .filter(Number.isFinite);
  if (ratios.length === 0) return null;
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}
