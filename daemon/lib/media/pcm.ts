/** Conversion between samples from -1 to 1 and 16-bit little-endian PCM, and the header of a WAV file. */

export const BYTES_PER_SAMPLE = 2;
const MAX_SAMPLE = 32_767;
/** Length in a WAV header when the length is unknown. */
const UNKNOWN_LENGTH = 0xffff_ffff;

/** Converts samples to 16-bit little-endian bytes. Clips values beyond the range and writes NaN as silence. */
export function toPcm16(samples: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(samples.length * BYTES_PER_SAMPLE);
  for (let at = 0; at < samples.length; at++) {
    const value = samples[at] as number;
    const level = value >= -1 && value <= 1 ? value : value > 1 ? 1 : value < -1 ? -1 : 0;
    bytes.writeInt16LE(Math.round(level * MAX_SAMPLE), at * BYTES_PER_SAMPLE);
  }
  return bytes;
}

/** Converts 16-bit little-endian bytes to samples. Ignores an odd last byte. */
export function fromPcm16(bytes: Buffer): Float32Array {
  const samples = new Float32Array(Math.floor(bytes.length / BYTES_PER_SAMPLE));
  for (let at = 0; at < samples.length; at++)
    samples[at] = bytes.readInt16LE(at * BYTES_PER_SAMPLE) / (MAX_SAMPLE + 1);
  return samples;
}

/**
 * Returns the 44-byte header of 16-bit mono sound. Without a length in bytes it is the header of a stream of
 * unknown length.
 */
export function wavHeader(rate: number, bytes: number | null): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(bytes === null ? UNKNOWN_LENGTH : 36 + bytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes ?? UNKNOWN_LENGTH, 40);
  return header;
}

/** Yields the same bytes in chunks that end between two samples. Drops an odd last byte. */
export async function* alignToSamples(source: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let remainder: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    const bytes: Buffer =
      remainder.length === 0 ? (chunk as Buffer) : Buffer.concat([remainder, chunk as Buffer]);
    const whole = bytes.length - (bytes.length % BYTES_PER_SAMPLE);
    if (whole > 0) yield bytes.subarray(0, whole);
    remainder = bytes.subarray(whole);
  }
}
