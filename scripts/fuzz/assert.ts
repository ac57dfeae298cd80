import { isDeepStrictEqual } from 'node:util';

/** Thrown where an input breaks a promise of the program: what a fuzzer looks for. */
export class PropertyViolation extends Error {}

export function assertProperty(holds: boolean, what: string): asserts holds {
  if (!holds) throw new PropertyViolation(what);
}

/** That two readings of one input are the same. */
export function assertSame(one: unknown, other: unknown, what: string): void {
  assertProperty(
    isDeepStrictEqual(one, other),
    `${what}: ${JSON.stringify(one)?.slice(0, 400)} and ${JSON.stringify(other)?.slice(0, 400)}`,
  );
}

/** The answer of `read`, or null where it throws what `expected` takes; anything else that it throws is a finding. */
export function orNullIf<T>(read: () => T, expected: (error: unknown) => boolean): T | null {
  try {
    return read();
  } catch (error) {
    if (expected(error)) return null;
    throw error;
  }
}

/**
 * Cuts an input for readers of streams: its first byte says how many of the next bytes are lengths of chunks, the rest
 * is what they read.
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
