/** Stands where a text was cut, so that a secret which the cut went through is known by its beginning (`hideSecrets`). */
export const CUT = '…';

/** At most `most` characters of `text`, and the mark of the cut when there were more. */
export const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most) + CUT;
