import { crc32 } from 'node:zlib';

/** Thrown when bytes are not a PNG, or one that is truncated, damaged or too large. */
export class InvalidPngError extends Error {
  constructor(why: string) {
    super(`It is not a PNG: ${why}.`);
    this.name = 'InvalidPngError';
  }
}

export interface Png {
  readonly width: number;
  readonly height: number;
  /** The image without metadata. */
  readonly bytes: Buffer;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/**
 * Chunks that the image is made of or rendered with. All other chunks are metadata, which may contain
 * prompts, workflows and file names.
 */
const RENDERING_CHUNKS: ReadonlySet<string> = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'tRNS',
  'gAMA',
  'cHRM',
  'sRGB',
  'sBIT',
  'pHYs',
]);
/** Bytes of length, type and checksum of a chunk. */
const FRAME_BYTES = 12;
const HEADER_BYTES = 13;

/** Returns whether `bytes` starts with the PNG signature. */
export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);

const COLOUR_TYPES: ReadonlySet<number> = new Set([0, 2, 3, 4, 6]);

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  /** The chunk with length, type and checksum. */
  readonly whole: Buffer;
}

function* chunksOf(bytes: Buffer): Generator<Chunk> {
  let at = SIGNATURE.length;
  while (at < bytes.length) {
    if (bytes.length - at < FRAME_BYTES) throw new InvalidPngError('it is cut off');
    const length = bytes.readUInt32BE(at);
    if (length > bytes.length - at - FRAME_BYTES) throw new InvalidPngError('it is cut off');
    const whole = bytes.subarray(at, at + FRAME_BYTES + length);
    if (crc32(whole.subarray(4, -4)) !== whole.readUInt32BE(whole.length - 4)) {
      throw new InvalidPngError('a checksum is wrong');
    }
    yield { type: whole.toString('latin1', 4, 8), data: whole.subarray(8, -4), whole };
    at += whole.length;
  }
}

function dimensionsOf({ type, data }: Chunk, maxSide: number): { width: number; height: number } {
  if (type !== 'IHDR' || data.length !== HEADER_BYTES) throw new InvalidPngError('it has no header');
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  if (width < 1 || height < 1 || width > maxSide || height > maxSide) {
    throw new InvalidPngError('its sides are out of bounds');
  }
  if (!COLOUR_TYPES.has(data[9] as number)) throw new InvalidPngError('its header is unknown');
  return { width, height };
}

/**
 * Validates an image chunk by chunk, including every checksum, and returns it without metadata. Dimensions
 * are in pixels. Throws InvalidPngError.
 */
export function readPng(bytes: Buffer, maxSide: number): Png {
  if (!isPng(bytes)) throw new InvalidPngError('it has no PNG signature');
  const chunks: Buffer[] = [SIGNATURE];
  let dimensions: { width: number; height: number } | null = null;
  let [hasImageData, ended] = [false, false];
  for (const chunk of chunksOf(bytes)) {
    dimensions ??= dimensionsOf(chunk, maxSide);
    hasImageData ||= chunk.type === 'IDAT' && chunk.data.length > 0;
    ended = chunk.type === 'IEND';
    if (RENDERING_CHUNKS.has(chunk.type)) chunks.push(chunk.whole);
    else if (isCritical(chunk.type)) throw new InvalidPngError('it has an unknown critical chunk');
    if (ended) break;
  }
  if (dimensions === null || !hasImageData || !ended) throw new InvalidPngError('it is cut off');
  return { ...dimensions, bytes: Buffer.concat(chunks) };
}

/**
 * A capital first letter marks a critical chunk: the image cannot be shown without it (PNG specification
 * section 5.4).
 */
const isCritical = (type: string): boolean => /^[A-Z]/.test(type);
