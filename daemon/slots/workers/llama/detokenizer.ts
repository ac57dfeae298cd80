/** Decodes `tokens` as a continuation of `before`. */
export type Detokenize = (tokens: readonly number[], before: readonly number[]) => string;

/** Decodes a growing token stream with constant work per token. */
export interface Detokenizer {
  /** Returns the text that this token completes. Empty while a character is incomplete. */
  push(token: number): string;
}

const INCOMPLETE = '\ufffd';
/** Preceding tokens that affect the next one (leading spaces in some vocabularies). */
const CONTEXT = 4;
/** A UTF-8 character has at most 4 bytes, so a longer wait means invalid UTF-8. */
const MAX_PENDING_TOKENS = 32;

const NO_MARKS: ReadonlyMap<number, string> = new Map();

/**
 * Holds back a character until all its bytes have arrived. An incomplete character at the end is dropped.
 * Control tokens in `marks` have no text and are emitted as the given text.
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
