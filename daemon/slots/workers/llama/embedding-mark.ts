import { invalidField } from '../refusal.ts';

/**
 * What stands for a text without tokens, as one of spaces is: a mark that the model puts around every text. One is enough,
 * because the library adds those that are missing; no token at all would be a vector without numbers. `lengthOf` counts
 * with the marks. Throws a 400 that names the text where the model has none.
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
