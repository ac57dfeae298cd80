/** Longest piece that is spoken in one go, in characters: it cannot be interrupted, and its sound comes at its end. */
export const MAX_PIECE_CHARS = 160;
/** Shorter sentences are joined to the next one. */
const MIN_PIECE_CHARS = 12;

const SENTENCES = new Intl.Segmenter('und', { granularity: 'sentence' });

/** Where a text that is too long is cut: after a comma, else after a space, else anywhere but inside a character. */
function splitIndex(text: string): number {
  const head = text.slice(0, MAX_PIECE_CHARS);
  const comma = /^[\s\S]*[,;:，、；]\s*/.exec(head)?.[0].length ?? 0;
  if (comma >= MAX_PIECE_CHARS / 4) return comma;
  const space = /^[\s\S]*\s/.exec(head)?.[0].length ?? 0;
  if (space > 0) return space;
  return /[\ud800-\udbff]$/.test(head) ? MAX_PIECE_CHARS - 1 : MAX_PIECE_CHARS;
}

/**
 * The text in pieces that are spoken one after another, so that the first sound comes early and a caller who leaves stops
 * the rest. Joined again they are the text. Pure.
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

/** Whether there is anything in a text that a voice could say. */
export const speakable = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
