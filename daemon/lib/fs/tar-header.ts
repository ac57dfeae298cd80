/** Bytes of a tar block: headers fill one, contents are padded to whole ones. */
export const BLOCK_BYTES = 512;
/** Longest name that a header holds, in bytes. */
export const MAX_NAME_BYTES = 100;

/** What stands before the content of a member of a tar archive. */
export interface TarMember {
  readonly name: string;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of the content. */
  readonly size: number;
  /** Unix seconds. */
  readonly mtime: number;
  /** `0` a file, `1` a hard link, `2` a symbolic link, `3` and `4` devices, `5` a folder, `6` a pipe, letters extensions. */
  readonly type: string;
}

/** An archive that is none, is damaged or holds what is not taken; the message goes on after "The archive ". */
export class TarError extends Error {
  override readonly name = 'TarError';
}

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

/** The zeros that fill the last block of a content of `size` bytes. */
export const paddingOf = (size: number): number => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;

/** The sum of a header: all its bytes, those of the sum itself as blanks. */
const checksumOf = (block: Uint8Array): number =>
  block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);

/** A header of the old GNU form, owned by root; a name beyond 100 bytes is cut. */
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

/** A number of a header; null where it is none (also in the binary form for sizes beyond 8 GiB). */
function numberAt(block: Buffer, at: number, width: number): number | null {
  const text = block.toString('latin1', at, at + width).replace(/[\0 ]+$/, '');
  return /^ *[0-7]{1,11}$/.test(text) ? Number.parseInt(text.trim(), 8) : null;
}

const textAt = (block: Buffer, at: number, width: number): string => {
  const end = block.subarray(at, at + width).indexOf(0);
  return block.toString('utf8', at, at + (end === -1 ? width : end));
};

/** Reads a header whose sum holds; null for a block of zeros, which ends an archive. Throws TarError. */
export function readTarHeader(block: Buffer): TarMember | null {
  if (block.every((byte) => byte === 0)) return null;
  const [mode, size, mtime, checksum] = [
    numberAt(block, 100, 8),
    numberAt(block, 124, 12),
    numberAt(block, 136, 12),
    numberAt(block, 148, 8),
  ];
  if (checksum !== checksumOf(block)) throw new TarError('is damaged: the sum of a header does not hold');
  if (mode === null || size === null || mtime === null) throw new TarError('has a header of another form');
  // The second part of a long name, in the newer form of the header only.
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? textAt(block, 345, 155) : '';
  const name = textAt(block, 0, MAX_NAME_BYTES);
  const type = String.fromCharCode(block[156] ?? 0).replace('\0', '0');
  return { name: prefix === '' ? name : `${prefix}/${name}`, mode: mode & 0o7777, size, mtime, type };
}
