/** Maximum number of words of a query. */
const MAX_WORDS = 32;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts without spaces between words. Each character is indexed as a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;

/** Returns the text for the search index, with spaces around characters of unspaced scripts. */
export function separateUnspaced(text: string): string {
  return text.replace(UNSPACED, ' $& ');
}

/**
 * Converts free text to an FTS5 expression that matches any of its words (also as a prefix, unspaced text as
 * a phrase). Returns null when it contains no word. Only letters and digits in quotes are passed on, so no
 * text can be a syntax error.
 */
export function searchExpression(query: string): string | null {
  const words = new Set<string>();
  for (const [word] of query.matchAll(WORD)) {
    if (words.size >= MAX_WORDS) break;
    const separated = separateUnspaced(word);
    words.add(separated === word ? `"${word}"*` : `"${separated.trim()}"`);
  }
  return words.size === 0 ? null : [...words].join(' OR ');
}
