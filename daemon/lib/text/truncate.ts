/** Marks where a text was truncated, so that `redactSecrets` can recognise the start of a truncated secret. */
export const ELLIPSIS = '…';

/** A lone surrogate at the end. Many JSON parsers reject it. */
const TRAILING_HIGH_SURROGATE = /[\uD800-\uDBFF]$/;

/** Truncates `text` to `maxLength` UTF-16 units, appends an ellipsis and never splits a surrogate pair. */
export const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).replace(TRAILING_HIGH_SURROGATE, '') + ELLIPSIS;
