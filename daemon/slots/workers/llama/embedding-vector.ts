import { endianness } from 'node:os';

/** A vector of length 1 in the same direction, as llama-server gives it; one without a direction stays as it is. */
export function normalised(vector: readonly number[]): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : value));
}

/** Little-endian float32, as the official clients read it. */
export function toBase64(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64');
}

/** Digits that tell every float32 from its neighbours. */
const DIGITS = 9;

/** Numbers that become short in JSON and are the same float32 again when read. */
export function toNumbers(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(DIGITS)));
}
