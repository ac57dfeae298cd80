/** Length of the header of a WAV file. */
const WAV_HEADER_BYTES = 44;

const isWav = (bytes: Buffer): boolean => bytes.toString('latin1', 0, 4) === 'RIFF';

/** Returns whether a complete response is no sound: no bytes, or the header of a WAV file alone. */
export const isSoundless = (bytes: Buffer): boolean =>
  bytes.length === 0 || (bytes.length === WAV_HEADER_BYTES && isWav(bytes));

/** Returns whether these first bytes of a response may be all of a response without sound. */
export const mayBeSoundless = (head: Buffer): boolean =>
  head.length === 0 || (head.length <= WAV_HEADER_BYTES && isWav(head));
