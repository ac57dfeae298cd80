import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { splitParts } from '../../../models/split-files.ts';

/** The header has the settings of the architecture and the tokenizer. */
const HEADER_BYTES = 1 << 20;
const SAMPLE_BYTES = 1 << 16;
const SAMPLES = 32;

/**
 * Returns a digest that differs when another model is at this path: size, modification time, header, and samples of the
 * weights of each part. Reading whole files would take longer than the load. Rejects when a part cannot be read.
 */
export async function modelDigest(modelPath: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of splitParts(modelPath)) {
    const file = await open(path, 'r');
    try {
      const { size, mtimeNs } = await file.stat({ bigint: true });
      hash.update(`${size} ${mtimeNs}\n`);
      for (const [at, length] of ranges(Number(size))) hash.update(await readAt(file, at, length));
    } finally {
      await file.close();
    }
  }
  return hash.digest('hex');
}

/** Returns the header and evenly spaced samples of the rest, as offset and length. */
function ranges(size: number): [number, number][] {
  const rest = Math.max(0, size - HEADER_BYTES - SAMPLE_BYTES);
  const samples = Array.from({ length: rest === 0 ? 0 : SAMPLES }, (_, index): [number, number] => [
    HEADER_BYTES + Math.floor((rest * index) / (SAMPLES - 1)),
    SAMPLE_BYTES,
  ]);
  return [[0, HEADER_BYTES], ...samples];
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
