/** Cosine similarity of two vectors; 0 when one of them has length zero. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, left, right] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return left === 0 || right === 0
    ? 0
    : Math.max(-1, Math.min(1, dot / (Math.sqrt(left) * Math.sqrt(right))));
}

/** Cosine similarity of each pair of vectors. */
export function similarities(vectors: ReadonlyArray<readonly number[]>): number[][] {
  return vectors.map((row) => vectors.map((column) => cosine(row, column)));
}

export interface Pair {
  readonly first: number;
  readonly second: number;
  readonly value: number;
}

/** The pair of different rows with the highest similarity; null for fewer than two rows. */
export function closest(matrix: ReadonlyArray<readonly number[]>): Pair | null {
  const pairs = matrix.flatMap((row, first) =>
    row.slice(first + 1).map((value, after) => ({ first, second: first + 1 + after, value })),
  );
  return pairs.reduce<Pair | null>(
    (best, pair) => (best === null || pair.value > best.value ? pair : best),
    null,
  );
}

/** Colour strength of a cell from 0 (minimum of the matrix) to 1. */
export function strength(value: number, min: number): number {
  return min >= 1 ? 1 : Math.max(0, Math.min(1, (value - min) / (1 - min)));
}
