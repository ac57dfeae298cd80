/** Bytes of a tar block. A header fills one block, and contents are padded to full blocks. */
export const BLOCK_BYTES = 512;
/** Maximum length of a name in a header, in bytes. */
export const MAX_NAME_BYTES = 100;

/** The header of an archive member. */
export interface TarMember {
  readonly name: string;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of the content. */
  readonly size: number;
  /** Unix seconds. */
  readonly mtime: number;
  /**
   * `0` file, `1` hard link, `2` symbolic link, `3` and `4` devices, `5` folder, `6` pipe, letters for
   * extensions.
   */
  readonly type: string;
}

/**
 * Thrown when an archive is invalid, damaged or has content that is not accepted. The message continues the
 * sentence "The archive …".
 */
export class TarError extends Error {
  override readonly name = 'TarError';
}

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** Returns the number of padding bytes after a content of `size` bytes. */
export const paddingOf = (size: number): number => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;

/** Returns the checksum of a header: the sum of all bytes, with the checksum field counted as blanks. */
const checksumOf = (block: Uint8Array): number =>
  block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);

/** Returns a header in the old GNU format, owned by root. Truncates a name above 100 bytes. */
export function tarHeader({ name, mode, size, mtime, type }: TarMember): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const put = (text: string, at: number) => block.write(text, at, 'latin1');
  block.write(name, 0, MAX_NAME_BYTES, 'utf8');
  put(octal(mode, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(mtime, 12), 136);
  put(type, 156);
  put('ustar  \0', 257);
  put('root', 265);
  put('root', 297);
  put(`${checksumOf(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/**
 * Parses a number of a header. Returns null for an invalid one, including the binary format for sizes above 8
 * GiB.
 */
function numberAt(block: Buffer, at: number, width: number): number | null {
  const text = block.toString('latin1', at, at + width).replace(/[\0 ]+$/, '');
  return /^ *[0-7]{1,11}$/.test(text) ? Number.parseInt(text.trim(), 8) : null;
}

const textAt = (block: Buffer, at: number, width: number): string => {
  const end = block.subarray(at, at + width).indexOf(0);
  return block.toString('utf8', at, at + (end === -1 ? width : end));
};

/**
 * Parses a header and verifies its checksum. Returns null for a block of zeros, which ends an archive. Throws
 * TarError.
 */
export function readTarHeader(block: Buffer): TarMember | null {
  if (block.every((byte) => byte === 0)) return null;
  const [mode, size, mtime, checksum] = [
    numberAt(block, 100, 8),
    numberAt(block, 124, 12),
    numberAt(block, 136, 12),
    numberAt(block, 148, 8),
  ];
  if (checksum !== checksumOf(block)) throw new TarError('is damaged: the checksum of a header is wrong');
  if (mode === null || size === null || mtime === null) throw new TarError('has a header of another form');
  // The prefix of a long name. Only the newer ustar format has one.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? textAt(block, 345, 155) : '';
  const name = textAt(block, 0, MAX_NAME_BYTES);
  const type = String.fromCharCode(block[156] ?? 0).replace('\0', '0');
  return { name: prefix === '' ? name : `${prefix}/${name}`, mode: mode & 0o7777, size, mtime, type };
}
