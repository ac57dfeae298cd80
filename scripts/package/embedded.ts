/** Parts of others inside a shipped package whose licences its own metadata does not name. */
export interface Embedded {
  readonly name: string;
  readonly licence: string;
  /** Where in the package it is. */
  readonly inside: string;
}

/**
 * By the prefix of a package name. The speech library of sherpa-onnx is linked with espeak-ng, which converts
 * words to phonemes (its symbols are in the file). Only the speech engine, a separate process, loads it.
 */
const EMBEDDED: readonly (readonly [string, Embedded])[] = [
  [
    'sherpa-onnx-linux-',
    { name: 'espeak-ng', licence: 'GPL-3.0-or-later', inside: 'libsherpa-onnx-c-api.so' },
  ],
  [
    '@jsquash/jpeg',
    { name: 'mozjpeg', licence: 'IJG AND BSD-3-Clause AND Zlib', inside: 'codec/enc/mozjpeg_enc.wasm' },
  ],
  ['@jsquash/webp', { name: 'libwebp', licence: 'BSD-3-Clause', inside: 'codec/enc/webp_enc.wasm' }],
];

/** Returns the embedded parts of the package of this name that its metadata does not list. */
export const embeddedIn = (name: string): readonly Embedded[] =>
  EMBEDDED.filter(([start]) => name.startsWith(start)).map(([, part]) => part);
