/** Parts of others inside a shipped package whose licences its own metadata does not name. */
export interface Embedded {
  readonly name: string;
  readonly licence: string;
  /** Where in the package it is. */
  readonly inside: string;
}

/**
 * By the beginning of a package's name. The speech library of sherpa-onnx is linked with espeak-ng, which makes phonemes of words (its
 * symbols are in the file); only the engine of speech, a process of its own, loads it.
 */
const EMBEDDED: readonly (readonly [string, Embedded])[] = [
  [
    'sherpa-onnx-linux-',
    { name: 'espeak-ng', licence: 'GPL-3.0-or-later', inside: 'libsherpa-onnx-c-api.so' },
  ],
];

/** What is inside the package of this name beside what it says of itself. */
export const embeddedIn = (name: string): readonly Embedded[] =>
  EMBEDDED.filter(([start]) => name.startsWith(start)).map(([, part]) => part);
