import { longestOpenEnd } from '../stop-scanner.ts';
import { JsonCall } from './json-call.ts';
import type { CallScanner, Found } from './pieces.ts';

/** Which names are calls; others are left in the text. */
export type Accepts = (name: string) => boolean;

/**
 * The place in an answer that a scanner is in. It takes what it can from `text` at `from` and answers how far it came and
 * which state goes on; -1 means that it wants more text and has kept nothing of what was not taken.
 */
export interface State {
  step(text: string, from: number, out: Found[]): { at: number; next: State } | null;
  /** The text to show once no more comes: what this state holds back and `kept`, which it did not take. */
  rest(kept: string): string;
}

/** Runs states over a stream. Between pieces, only what a state did not take is kept. */
export function scanner(start: State): CallScanner {
  let state = start;
  let kept = '';
  return {
    push(piece) {
      const text = kept + piece;
      const out: Found[] = [];
      let at = 0;
      for (;;) {
        const moved = state.step(text, at, out);
        if (moved === null) break;
        if (moved.at === at && moved.next === state) break;
        ({ at, next: state } = moved);
      }
      kept = text.slice(at);
      return out;
    },
    end() {
      const text = state.rest(kept);
      kept = '';
      state = start;
      return text === '' ? [] : [{ type: 'text', text }];
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

/** Passes text on until `mark`, after which `next` takes over. */
export function untilMark(mark: string, next: () => State): State {
  const state: State = {
    step(text, from, out) {
      const at = text.indexOf(mark, from);
      const end = at < 0 ? text.length - longestOpenEnd(text, [mark]) : at;
      if (end > from) out.push({ type: 'text', text: text.slice(from, end) });
      return at < 0 ? { at: Math.max(from, end), next: state } : { at: at + mark.length, next: next() };
    },
    rest: (kept) => kept,
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
  let told = false;
  const state: State = {
    step(text, from, out) {
      if (from >= text.length) return null;
      const { found, end, failed } = call.push(text, from);
      const to = end < 0 ? text.length : end;
      told ||= found.length > 0;
      out.push(...found);
      if (told) read = '';
      else read += text.slice(from, to);
      if (!failed) return { at: to, next: end < 0 ? state : after.done() };
      out.push({ type: 'text', text: read });
      return { at: to, next: after.failed() };
    },
    rest: (kept) => read + kept,
  };
  return state;
}
