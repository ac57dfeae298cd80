/** Formats of OpenAI's image API. */
export type ImageFormat = 'png' | 'jpeg' | 'webp';

/** Returns the format of an image by its first bytes; null for any other content. */
export function imageFormat(bytes: Buffer): ImageFormat | null {
  if (bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n') return 'png';
  if (bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xff_d8_ff) return 'jpeg';
  const isRiff = bytes.subarray(0, 4).toString('latin1') === 'RIFF';
  return isRiff && bytes.subarray(8, 12).toString('latin1') === 'WEBP' ? 'webp' : null;
}
