import { isDeepStrictEqual } from 'node:util';

/** Thrown when an input violates a property of the program. Fuzzers search for it. */
export class PropertyViolation extends Error {}

export function assertProperty(holds: boolean, what: string): asserts holds {
  if (!holds) throw new PropertyViolation(what);
}

/** Asserts that two readings of one input are equal. */
export function assertSame(one: unknown, other: unknown, what: string): void {
  assertProperty(
    isDeepStrictEqual(one, other),
    `${what}: ${JSON.stringify(one)?.slice(0, 400)} and ${JSON.stringify(other)?.slice(0, 400)}`,
  );
}

/** Returns the result of `read`, or null when it throws an `expected` error. Rethrows any other error. */
export function orNullIf<T>(read: () => T, expected: (error: unknown) => boolean): T | null {
  try {
    return read();
  } catch (error) {
    if (expected(error)) return null;
    throw error;
  }
}

/**
 * Splits an input for stream readers: its first byte gives the number of chunk lengths that follow; the rest
 * is the content.
 */
export function chunked(data: Buffer): { whole: Buffer; chunks: Buffer[] } {
  const count = Math.min((data[0] ?? 0) % 8, Math.max(0, data.length - 1));
  const whole = data.subarray(1 + count);
  const chunks: Buffer[] = [];
  let at = 0;
  for (const length of data.subarray(1, 1 + count)) {
    chunks.push(whole.subarray(at, at + length));
    at = Math.min(whole.length, at + length);
  }
  return { whole, chunks: [...chunks, whole.subarray(at)] };
}
