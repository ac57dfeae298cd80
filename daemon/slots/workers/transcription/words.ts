/** One word and when it was said, in seconds from the start of the recording. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** What the native library tells of the tokens of one stretch: their texts, when each began, and for how long (some models). */
export interface TimedTokens {
  readonly tokens?: readonly string[];
  readonly timestamps?: readonly number[];
  readonly durations?: readonly number[];
}

/** Marks of the beginning of a word, as SentencePiece and byte-level vocabularies write them. */
const WORD_START = /^[\s\u2581\u0120]/;
const MARKS = /[\u2581\u0120]/g;
/** Scripts without spaces: every sign is a word of its own. */
const UNSPACED_SCRIPT = /^[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/;
/** Longest time that the last sound of a word is given when nobody tells how long it is, in seconds. */
const MAX_LAST_TOKEN_S = 0.4;

const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/**
 * The words of a stretch that begins at `start` and ends at `end`, in seconds. Null when the model tells no times, or times
 * that can not be: then nothing is made up.
 */
export function wordsOf(timed: TimedTokens, start: number, end: number): Word[] | null {
  const { tokens = [], timestamps = [], durations = [] } = timed;
  const possible = (at: number, index: number) => at >= (timestamps[index - 1] ?? 0) && at <= end - start;
  if (tokens.length === 0 || timestamps.length !== tokens.length || !timestamps.every(possible)) return null;
  const words: { word: string; start: number; end: number }[] = [];
  let open = false;
  for (const [index, token] of tokens.entries()) {
    const text = token.replace(MARKS, ' ').trim();
    if (WORD_START.test(token) || UNSPACED_SCRIPT.test(text)) open = false;
    if (text === '') continue;
    const at = timestamps[index] as number;
    const until = Math.min(at + (durations[index] || MAX_LAST_TOKEN_S), timestamps[index + 1] ?? end - start);
    const [from, to] = [milliseconds(start + at), milliseconds(start + until)];
    const last = open ? words.at(-1) : undefined;
    if (last === undefined) words.push({ word: text, start: from, end: to });
    else Object.assign(last, { word: last.word + text, end: to });
    open = true;
  }
  return words;
}
