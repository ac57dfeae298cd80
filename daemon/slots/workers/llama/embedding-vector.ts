import { endianness } from 'node:os';

/** Scales a vector to length 1, as llama-server does. A zero vector is unchanged. */
export function normalised(vector: readonly number[]): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : value));
}

/** Little-endian float32, as the official clients decode it. */
export function toBase64(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}

/** Significant digits that distinguish all float32 values. */
const DIGITS = 9;

/** Rounds to numbers that are short in JSON and parse to the same float32. */
export function toNumbers(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(DIGITS)));
}
