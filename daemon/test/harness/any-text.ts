import fc from 'fast-check';

/**
 * Any character of Unicode, halves of surrogate pairs too. What the unit `binary` of fast-check means, which takes seconds
 * to be made.
 */
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

/** Any text that a program may be handed. */
export const anyText = (maxLength?: number): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, ...(maxLength === undefined ? {} : { maxLength }) });
