/** Stands where a text was cut, so that a secret which the cut went through is known by its beginning (`hideSecrets`). */
export const CUT = '…';

/** Half of a character at the end: many readers of JSON refuse a text with one. */
const HALF = /[\uD800-\uDBFF]$/;

/** At most `most` characters of `text`, all of them whole, and the mark of the cut when there were more. */
export const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(HALF, '') + CUT;
