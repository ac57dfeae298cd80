/** Stands where a text was cut, so that a secret which the cut went through is known by its beginning (`hideSecrets`). */
export const ELLIPSIS = '…';

/** Half of a character at the end: many readers of JSON refuse a text with one. */
const TRAILING_HIGH_SURROGATE = /[\uD800-\uDBFF]$/;

/** At most `most` characters of `text`, all of them whole, and the mark of the cut when there were more. */
export const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(TRAILING_HIGH_SURROGATE, '') + ELLIPSIS;
