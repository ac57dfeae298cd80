import type { CallScanner } from './pieces.ts';
import { type Accepts, afterSpace, oneCall, type State, scanner } from './scanner.ts';

export const PYTHON_TAG = '<|python_tag|>';
const FENCE = '```json';
const LEADS = [PYTHON_TAG, FENCE] as const;

/**
 * Calls that stand bare at the beginning of the answer: one object or a list of them, behind `<|python_tag|>` (Llama 3) or in
 * a fenced block as well, separated by `;`, `,` or spaces. An answer that begins with anything else is text to its end.
 */
export function bareCalls(accepts: Accepts): CallScanner {
  const text = (): State => ({
    step(piece, from, out) {
      if (from >= piece.length) return null;
      out.push({ type: 'text', text: piece.slice(from) });
      return { at: piece.length, next: text() };
    },
    rest: (kept) => kept,
  });
  const start = (): State => {
    const state: State = {
      step(piece, from) {
        const at = afterSpace(piece, from);
        if (at >= piece.length) return null;
        const lead = LEADS.find((mark) => piece.startsWith(mark, at));
        if (lead !== undefined) return { at: at + lead.length, next: list(piece.slice(from, at) + lead) };
        if (LEADS.some((mark) => mark.startsWith(piece.slice(at)))) return null;
        return { at: from, next: list('') };
      },
      rest: (kept) => kept,
    };
    return state;
  };
  /** Before the first object; a list may open. */
  const list = (before: string): State => {
    const state: State = {
      step(piece, from) {
        const at = afterSpace(piece, from);
        if (at >= piece.length) return null;
        const opened = piece[at] === '[' ? at + 1 : at;
        const read = before + piece.slice(from, opened);
        if (opened > at || piece[at] === '{') return { at: opened, next: call(read) };
        return { at: from, next: literal(before) };
      },
      rest: (kept) => before + kept,
    };
    return state;
  };
  /** Text that turned out to be no call, then the rest of the answer. */
  const literal = (before: string): State => ({
    step(_, from, out) {
      if (before !== '') out.push({ type: 'text', text: before });
      return { at: from, next: text() };
    },
    rest: (kept) => before + kept,
  });
  const call = (before: string): State =>
    oneCall(before, accepts, {
      done: between,
      failed: text,
    });
  /** Between two calls, or after the last. */
  const between = (): State => {
    const state: State = {
      step(piece, from) {
        const at = afterSpace(piece, from);
        if (at >= piece.length) return { at, next: state };
        if (piece.startsWith(PYTHON_TAG, at)) return { at: at + PYTHON_TAG.length, next: state };
        if (piece[at] === '{') return { at, next: call('') };
        if (CLOSERS.has(piece[at] as string)) return { at: at + 1, next: state };
        return PYTHON_TAG.startsWith(piece.slice(at)) ? null : { at, next: text() };
      },
      rest: () => '',
    };
    return state;
  };
  return scanner(start());
}

/** Marks between and after calls that mean nothing by themselves. */
const CLOSERS: ReadonlySet<string> = new Set([';', ',', ']', '`']);
