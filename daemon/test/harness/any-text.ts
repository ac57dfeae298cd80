import fc from 'fast-check';

/**
 * Any Unicode code point, including lone surrogates. Replaces the unit `binary` of fast-check, which takes seconds
 * to create.
 */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

/** Any string that a program may receive. */
export const anyText = (maxLength?: number): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, ...(maxLength === undefined ? {} : { maxLength }) });
