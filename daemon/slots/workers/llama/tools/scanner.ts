import { longestOpenEnd } from '../stop-scanner.ts';
import { JsonCall } from './json-call.ts';
import { jsonValue } from './json-value.ts';
import type { CallScanner, ScannedPiece } from './pieces.ts';

/** Decides which names are calls. Other names remain text. */
export type Accepts = (name: string) => boolean;

/** Returns the parameters of an offered tool, or undefined when it was not offered. */
export type SchemaOf = (name: string) => unknown;

/**
 * A state of a scanner. It consumes what it can from `text` at `from` and returns the new position and the
 * next state. -1 means that it needs more text and has retained nothing of the unconsumed text.
 */
export interface State {
  step(text: string, from: number, out: ScannedPiece[]): { at: number; next: State } | null;
  /**
   * Returns what to emit at the end of the stream: text that the state holds back, and `unread`, which it did
   * not consume.
   */
  flush(unread: string): string | ScannedPiece[];
}

/** Runs states over a stream. Between pieces, retains only unconsumed text. */
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

/** Returns the position after the whitespace at `from`. */
export function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.test(text[at] as string)) at += 1;
  return at;
}

/** Forwards all text. */
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

/** Forwards text up to `mark`, then continues with `next`. */
export const untilMark = (mark: string, next: () => State): State => untilMarks({ [mark]: next });

/** Forwards text up to the first of the marks. No mark may be a prefix of another. */
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

/** Returns the first mark in `text` from `from` on. */
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

/** Returns the mark at `at`; `open` when the text may still become one. */
export function markAt(text: string, marks: readonly string[], at: number): string | 'open' | null {
  const found = marks.find((mark) => text.startsWith(mark, at));
  if (found !== undefined) return found;
  const end = text.slice(at, at + MAX_MARK_CHARS);
  return marks.some((mark) => mark.length > end.length && mark.startsWith(end)) ? 'open' : null;
}

const MAX_MARK_CHARS = 64;

/** Reads JSON arguments written by the model. `after` continues where the value ends. */
export function argumentValue(after: () => State): State {
  const value = jsonValue();
  const state: State = {
    step(text, from, out) {
      if (from >= text.length) return null;
      const { out: output, end } = value.push(text, from);
      if (output !== '') out.push({ type: 'arguments', text: output });
      if (end < 0) return { at: text.length, next: state };
      out.push({ type: 'callEnd' });
      return { at: end, next: after() };
    },
    flush: () => '',
  };
  return state;
}

/**
 * Reads one JSON call. `before` is the preceding text; it is returned with the read text when it is no call.
 */
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
