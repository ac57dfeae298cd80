/** One word with its times in seconds from the start of the recording. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Token data of one segment from the native library: texts, start times, and durations (some models). */
export interface TimedTokens {
  readonly tokens?: readonly string[];
  readonly timestamps?: readonly number[];
  readonly durations?: readonly number[];
}

/** Word start markers of SentencePiece and byte-level vocabularies. */
const WORD_START = /^[\s\u2581\u0120]/;
const MARKS = /[\u2581\u0120]/g;
/** Scripts without spaces: every character counts as a word. */
const UNSPACED_SCRIPT = /^[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/;
/** Maximum duration in seconds of the last token of a word when its duration is unknown. */
const MAX_LAST_TOKEN_S = 0.4;

const milliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/**
 * Returns the words of a segment from `start` to `end` in seconds. Null when the model reports no valid
 * times; none are invented.
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
