import { crc32 } from 'node:zlib';

/** Bytes that are no PNG, or one that is cut off, damaged or larger than is taken. */
export class BadPng extends Error {
  constructor(why: string) {
    super(`It is no PNG: ${why}.`);
    this.name = 'BadPng';
  }
}

export interface Png {
  readonly width: number;
  readonly height: number;
  /** The picture without its notes. */
  readonly bytes: Buffer;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** What a picture is made of and shown by. All else is notes: prompts, workflows and names of files among them. */
const KEPT: ReadonlySet<string> = new Set([
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
/** Length, type and checksum of a chunk. */
const FRAME = 12;
const HEADER = 13;

/** Whether bytes begin like a PNG. */
export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);

const COLOUR_TYPES: ReadonlySet<number> = new Set([0, 2, 3, 4, 6]);

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
  /** The chunk with its frame. */
  readonly whole: Buffer;
}

function* chunksOf(bytes: Buffer): Generator<Chunk> {
  let at = SIGNATURE.length;
  while (at < bytes.length) {
    if (bytes.length - at < FRAME) throw new BadPng('it is cut off');
    const length = bytes.readUInt32BE(at);
    if (length > bytes.length - at - FRAME) throw new BadPng('it is cut off');
    const whole = bytes.subarray(at, at + FRAME + length);
    if (crc32(whole.subarray(4, -4)) !== whole.readUInt32BE(whole.length - 4)) {
      throw new BadPng('a checksum is wrong');
    }
    yield { type: whole.toString('latin1', 4, 8), data: whole.subarray(8, -4), whole };
    at += whole.length;
  }
}

function sidesOf({ type, data }: Chunk, mostSide: number): { width: number; height: number } {
  if (type !== 'IHDR' || data.length !== HEADER) throw new BadPng('it has no header');
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  if (width < 1 || height < 1 || width > mostSide || height > mostSide) {
    throw new BadPng('its sides are out of bounds');
  }
  if (!COLOUR_TYPES.has(data[9] as number)) throw new BadPng('its header is unknown');
  return { width, height };
}

/**
 * Looks at a picture by its content, chunk by chunk with every checksum, and answers it without anything that is no
 * picture. Sides are pixels. Throws BadPng.
 */
export function readPng(bytes: Buffer, mostSide: number): Png {
  if (!isPng(bytes)) throw new BadPng('it does not begin like one');
  const kept: Buffer[] = [SIGNATURE];
  let sides: { width: number; height: number } | null = null;
  let [drawn, ended] = [false, false];
  for (const chunk of chunksOf(bytes)) {
    sides ??= sidesOf(chunk, mostSide);
    drawn ||= chunk.type === 'IDAT' && chunk.data.length > 0;
    ended = chunk.type === 'IEND';
    if (KEPT.has(chunk.type)) kept.push(chunk.whole);
    else if (isCritical(chunk.type)) throw new BadPng('it holds a part that nobody knows');
    if (ended) break;
  }
  if (sides === null || !drawn || !ended) throw new BadPng('it is cut off');
  return { ...sides, bytes: Buffer.concat(kept) };
}

/** A capital first letter: the picture cannot be shown without it (PNG specification section 5.4). */
const isCritical = (type: string): boolean => /^[A-Z]/.test(type);
