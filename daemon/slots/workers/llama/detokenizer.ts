/** Text of `tokens`, read as a continuation of `before`. */
export type Detokenize = (tokens: readonly number[], before: readonly number[]) => string;

/** Turns a growing token stream into text with work that does not grow with it. */
export interface Detokenizer {
  /** The text that this token completes; empty while a character is still cut. */
  push(token: number): string;
}

const INCOMPLETE = '\ufffd';
/** Tokens of the finished text that still shape the next one (spaces of some vocabularies). */
const CONTEXT = 4;
/** A character has 4 bytes at most, so a longer wait means bytes that are no UTF-8. */
const MAX_PENDING_TOKENS = 32;

const NO_MARKS: ReadonlyMap<number, string> = new Map();

/**
 * Holds back a character whose bytes are spread over tokens. One that the text ends inside of is never shown. The control
 * tokens in `marks`, which have no text of their own, appear as the text given there.
 */
export function detokenizer(
  detokenize: Detokenize,
  marks: ReadonlyMap<number, string> = NO_MARKS,
): Detokenizer {
  let before: number[] = [];
  let open: number[] = [];
  let shown = 0;
  const push = (token: number): string => {
    open.push(token);
    const text = detokenize(open, before);
    const waiting = text.endsWith(INCOMPLETE) && open.length < MAX_PENDING_TOKENS;
    const end = waiting ? completeLength(text) : text.length;
    const fresh = text.slice(shown, end);
    if (waiting) {
      shown = Math.max(shown, end);
      return fresh;
    }
    before = [...before, ...open].slice(-CONTEXT);
    open = [];
    shown = 0;
    return fresh;
  };
  const pushMark = (mark: string): string => {
    before = [];
    open = [];
    shown = 0;
    return mark;
  };
  return {
    push(token) {
      const mark = marks.size === 0 ? undefined : marks.get(token);
      return mark === undefined ? push(token) : pushMark(mark);
    },
  };
}

function completeLength(text: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === INCOMPLETE) end--;
  return end;
}
