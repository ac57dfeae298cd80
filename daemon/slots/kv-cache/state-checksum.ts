import { open, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

const READ_BYTES = 4 << 20;

/** Returns whether a state file has the size and checksum of its description. Rejects when it cannot be read. */
export async function isIntact(
  path: string,
  expected: { readonly bytes: number; readonly crc32: number },
): Promise<boolean> {
  const stats = await stat(path);
  return stats.isFile() && stats.size === expected.bytes && (await checksum(path)) === expected.crc32;
}

/** Returns the CRC-32 of a file. Rejects when it cannot be read. */
export async function checksum(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    let sum = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return sum;
      sum = crc32(buffer.subarray(0, bytesRead), sum);
    }
  } finally {
    await file.close();
  }
}
