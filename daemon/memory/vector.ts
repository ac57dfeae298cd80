/** Maximum number of dimensions of a stored vector. */
const MAX_DIMENSIONS = 8_192;

/** Returns the vector normalised to length 1 for storage; null for an invalid or zero vector. */
export function storedVector(numbers: readonly unknown[]): Buffer | null {
  if (numbers.length === 0 || numbers.length > MAX_DIMENSIONS) return null;
  if (!numbers.every((each) => typeof each === 'number' && Number.isFinite(each))) return null;
  const values = Float32Array.from(numbers as readonly number[]);
  const length = Math.hypot(...values);
  if (!Number.isFinite(length) || length === 0) return null;
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value / length, i * 4);
  return bytes;
}

/** Returns the numbers of a stored vector. */
export function vectorOf(stored: Buffer): Float32Array {
  const values = new Float32Array(stored.length >> 2);
  for (let i = 0; i < values.length; i++) values[i] = stored.readFloatLE(i * 4);
  return values;
}

/** Returns the cosine similarity of two vectors of length 1, -1 to 1; 0 for vectors of different models. */
export function similarity(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
