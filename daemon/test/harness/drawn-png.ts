import { crc32, deflateSync } from 'node:zlib';

/** Bytes of the signature and the header. */
const HEAD_BYTES = 33;
/** Bytes of the last chunk. */
const END_BYTES = 12;

export const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

export interface PngOptions {
  readonly width: number;
  readonly height: number;
  /** The pixels depend on it. */
  readonly seed: number;
  /** Text chunks, as engines write them. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** Returns a real greyscale PNG whose pixels depend on the seed. */
export function drawnPng({ width, height, seed, notes = {} }: PngOptions): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = (x + y + seed) % 256;
  }
  const texts = Object.entries(notes).map(([key, text]) =>
    chunk('tEXt', Buffer.from(`${key}\0${text}`, 'latin1')),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...texts,
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns the PNG with pixels that cannot be decompressed; its checksums are right. */
export const damagedPng = (png: Buffer): Buffer =>
  Buffer.concat([png.subarray(0, HEAD_BYTES), chunk('IDAT', Buffer.from('x')), png.subarray(-END_BYTES)]);
