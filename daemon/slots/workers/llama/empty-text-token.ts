import { invalidField } from '../refusal.ts';

/**
 * Returns the token that represents a text without tokens, such as one of spaces only: a mark that the model
 * adds around every text. One token is enough because the library adds the missing marks. No token at all
 * would produce a vector of NaN. `lengthOf` counts with the marks. Throws a 400 that names the text when the
 * model has no such mark.
 */
export function emptyTextMark<T extends number>(
  marks: readonly (T | null)[],
  lengthOf: (tokens: readonly T[]) => number,
  place: string,
): T {
  const length = lengthOf([]);
  const own = marks.find((mark) => mark !== null && lengthOf([mark]) === length);
  if (own === undefined || own === null) throw invalidField('input', `${place}: has no tokens`);
  return own;
}
