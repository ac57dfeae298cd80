/** Maximum length of a piece in characters. A piece cannot be interrupted, and its audio arrives at its end. */
export const MAX_PIECE_CHARS = 160;
/** Shorter sentences are merged with the next one. */
const MIN_PIECE_CHARS = 12;

const SENTENCES = new Intl.Segmenter('und', { granularity: 'sentence' });

/**
 * Returns where to split a long text: after a comma, else after a space, else anywhere except inside a
 * character.
 */
function splitIndex(text: string): number {
  const head = text.slice(0, MAX_PIECE_CHARS);
  const comma = /^[\s\S]*[,;:，、；]\s*/.exec(head)?.[0].length ?? 0;
  if (comma >= MAX_PIECE_CHARS / 4) return comma;
  const space = /^[\s\S]*\s/.exec(head)?.[0].length ?? 0;
  if (space > 0) return space;
  return /[\ud800-\udbff]$/.test(head) ? MAX_PIECE_CHARS - 1 : MAX_PIECE_CHARS;
}

/**
 * Splits a text into pieces that are spoken one after another, so that the first audio arrives early and a
 * disconnect stops the rest. Their concatenation is the text. Pure.
 */
export function* pieces(text: string): Generator<string> {
  let open = '';
  for (const { segment } of SENTENCES.segment(text)) {
    let rest = open + segment;
    open = '';
    while (rest.length > MAX_PIECE_CHARS) {
      const at = splitIndex(rest);
      yield rest.slice(0, at);
      rest = rest.slice(at);
    }
    if (rest.length < MIN_PIECE_CHARS) open = rest;
    else yield rest;
  }
  if (open !== '') yield open;
}
