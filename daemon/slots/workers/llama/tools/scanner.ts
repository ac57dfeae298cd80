import { longestOpenEnd } from '../stop-scanner.ts';
import { JsonCall } from './json-call.ts';
import { jsonValue } from './json-value.ts';
import type { CallScanner, ScannedPiece } from './pieces.ts';

/** Which names are calls; others are left in the text. */
export type Accepts = (name: string) => boolean;

/** The parameters that a tool was offered with; undefined for one that was not. */
export type SchemaOf = (name: string) => unknown;

/**
 * The place in an answer that a scanner is in. It takes what it can from `text` at `from` and answers how far it came and
 * which state goes on; -1 means that it wants more text and has kept nothing of what was not taken.
 */
export interface State {
  step(text: string, from: number, out: ScannedPiece[]): { at: number; next: State } | null;
  /** What to show once no more comes, as text unless it says otherwise: what it holds back and `kept`, which it did not take. */
  flush(unread: string): string | ScannedPiece[];
}

/** Runs states over a stream. Between pieces, only what a state did not take is kept. */
export function scanner(start: State): CallScanner {
  let state = start;
  let unread = '';
  return {
    push(piece) {
      const text = unread + piece;
      const out: ScannedPiece[] = [];
      let at = 0;
      for (;;) {
        const moved = state.step(text, at, out);
        if (moved === null) break;
        if (moved.at === at && moved.next === state) break;
        ({ at, next: state } = moved);
      }
      unread = text.slice(at);
      return out;
    },
    end() {
      const rest = state.flush(unread);
      unread = '';
      state = start;
      if (typeof rest !== 'string') return rest;
      return rest === '' ? [] : [{ type: 'text', text: rest }];
    },
  };
}

const SPACE = /\s/;

/** Where the spaces at `from` end. */
export function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.test(text[at] as string)) at += 1;
  return at;
}

/** Passes all text on. */
export function textOnly(): State {
  const state: State = {
    step(text, from, out) {
      if (from >= text.length) return null;
      out.push({ type: 'text', text: text.slice(from) });
      return { at: text.length, next: state };
    },
    flush: (unread) => unread,
  };
  return state;
}

/** Passes text on until `mark`, after which `next` takes over. */
export const untilMark = (mark: string, next: () => State): State => untilMarks({ [mark]: next });

/** Passes text on until the first of the marks; none of them begins as another does. */
export function untilMarks(nexts: Readonly<Record<string, () => State>>): State {
  const marks = Object.keys(nexts);
  const state: State = {
    step(text, from, out) {
      const hit = firstMark(text, marks, from);
      const end = hit === null ? text.length - longestOpenEnd(text, marks) : hit.at;
      if (end > from) out.push({ type: 'text', text: text.slice(from, end) });
      if (hit === null) return { at: Math.max(from, end), next: state };
      return { at: hit.at + hit.mark.length, next: (nexts[hit.mark] as () => State)() };
    },
    flush: (unread) => unread,
  };
  return state;
}

/** The mark that stands first in `text` from `from` on. */
export function firstMark(
  text: string,
  marks: readonly string[],
  from: number,
): { mark: string; at: number } | null {
  let first: { mark: string; at: number } | null = null;
  for (const mark of marks) {
    const at = text.indexOf(mark, from);
    if (at >= 0 && (first === null || at < first.at)) first = { mark, at };
  }
  return first;
}

/** The mark that `text` has at `at`; `open` when what is there may still become one. */
export function markAt(text: string, marks: readonly string[], at: number): string | 'open' | null {
  const found = marks.find((mark) => text.startsWith(mark, at));
  if (found !== undefined) return found;
  const end = text.slice(at, at + MAX_MARK_CHARS);
  return marks.some((mark) => mark.length > end.length && mark.startsWith(end)) ? 'open' : null;
}

const MAX_MARK_CHARS = 64;

/** Text of the model that is the JSON of its arguments; `after` takes over where the value ends. */
export function argumentValue(after: () => State): State {
  const value = jsonValue();
  const state: State = {
    step(text, from, out) {
      if (from >= text.length) return null;
      const { out: given, end } = value.push(text, from);
      if (given !== '') out.push({ type: 'arguments', text: given });
      if (end < 0) return { at: text.length, next: state };
      out.push({ type: 'callEnd' });
      return { at: end, next: after() };
    },
    flush: () => '',
  };
  return state;
}

/** One JSON call. `before` is the text that led here; it and what was read come back as text when it is no call. */
export function oneCall(
  before: string,
  accepts: Accepts,
  after: { done: () => State; failed: () => State },
): State {
  const call = new JsonCall(accepts);
  let read = before;
  let hasFound = false;
  const state: State = {
    step(text, from, out) {
      if (from >= text.length) return null;
      const { found, end, failed } = call.push(text, from);
      const to = end < 0 ? text.length : end;
      hasFound ||= found.length > 0;
      out.push(...found);
      if (hasFound) read = '';
      else read += text.slice(from, to);
      if (!failed) return { at: to, next: end < 0 ? state : after.done() };
      out.push({ type: 'text', text: read });
      return { at: to, next: after.failed() };
    },
    flush: (unread) => read + unread,
  };
  return state;
}
