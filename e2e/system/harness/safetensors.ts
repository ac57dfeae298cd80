import { readFileSync } from 'node:fs';

export interface StoredTensor {
  /** Sizes, slowest dimension first. */
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const BYTES_OF_LENGTH = 8;

/**
 * Reads the 32-bit float tensors of a safetensors file; tensors of other types are left out. The format is described at
 * https://huggingface.co/docs/safetensors/index#format. Throws when a tensor lies outside of the file.
 */
export function parseSafetensors(file: Buffer): Map<string, StoredTensor> {
  const start = BYTES_OF_LENGTH + Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', BYTES_OF_LENGTH, start)) as Record<string, Entry>;
  const tensors = new Map<string, StoredTensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    if (name === '__metadata__' || dtype !== 'F32') continue;
    const [from, to] = data_offsets;
    if (start + to > file.length) throw new Error(`${name} lies outside of the file`);
    // A copy: the numbers need not be aligned in the file.
    const bytes = Uint8Array.prototype.slice.call(file, start + from, start + to);
    tensors.set(name, { shape, data: new Float32Array(bytes.buffer) });
  }
  return tensors;
}

/** Reads a safetensors file from disk. */
export const readSafetensors = (path: string): Map<string, StoredTensor> =>
  parseSafetensors(readFileSync(path));
