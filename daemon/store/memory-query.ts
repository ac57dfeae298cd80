/** Words of a query that count at most. */
const MAX_WORDS = 32;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts written without spaces: each character is a word of its own. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu;

/** The text as it goes into the search index: characters of unspaced scripts stand apart. */
export function separateUnspaced(text: string): string {
  return text.replace(UNSPACED, ' $& ');
}

/**
 * Free text → an FTS5 expression that matches any of its words (a word also as a beginning, unspaced text as a phrase).
 * Null when it holds no word. Only letters and digits inside quotes get through, so no text is a syntax error.
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
