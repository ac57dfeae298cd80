import type { CallScanner } from './pieces.ts';
import { pythonCall, startsPythonCall } from './python-call.ts';
import {
  type Accepts,
  afterSpace,
  markAt,
  oneCall,
  type SchemaOf,
  type State,
  scanner,
  textOnly,
} from './scanner.ts';

export const PYTHON_TAG = '<|python_tag|>';
const FENCE = '```';
const LANGUAGE = /[a-z_]*/y;
const MAX_LANGUAGE_CHARS = 16;
const LEADS = [PYTHON_TAG, FENCE] as const;

/** Separators between and after calls. */
const CLOSERS: ReadonlySet<string> = new Set([';', ',', ']', '`']);

export interface BareOptions {
  /** Marks of the family. Nothing before them is a bare call. */
  marks?: readonly string[];
  /** Reads an answer that starts with no call, and the text after a call. */
  otherwise?: () => State;
  /** Set when calls may also use Python syntax: `[name(key=value)]`. */
  schemaOf?: SchemaOf;
}

/**
 * Reads bare calls at the start of the answer: one object or a list of them, also after `<|python_tag|>`
 * (Llama 3) or in a fenced block, separated by `;`, `,` or whitespace. An answer that starts with anything
 * else is text.
 */
export const bareCalls = (accepts: Accepts): CallScanner => scanner(bareStart(accepts, {}));

/** Returns the initial state of an answer that may start with bare calls. */
export function bareStart(
  accepts: Accepts,
  { marks = [], otherwise = textOnly, schemaOf }: BareOptions,
): State {
  const start = (): State => {
    const state: State = {
      step(piece, from) {
        const at = afterSpace(piece, from);
        if (at >= piece.length) return null;
        const mark = markAt(piece, [...LEADS, ...marks], at);
        if (mark === 'open') return null;
        if (mark === null) return { at: from, next: list('') };
        if (marks.includes(mark)) return { at: from, next: otherwise() };
        const read = piece.slice(from, at) + mark;
        return { at: at + mark.length, next: mark === FENCE ? language(read) : list(read) };
      },
      flush: (unread) => unread,
    };
    return state;
  };
  /** The language of a fenced block: `json` or nothing. */
  const language = (before: string): State => ({
    step(piece, from) {
      LANGUAGE.lastIndex = from;
      const word = LANGUAGE.exec(piece)?.[0] ?? '';
      if (from + word.length >= piece.length && word.length <= MAX_LANGUAGE_CHARS) return null;
      return { at: from + word.length, next: list(before + word) };
    },
    flush: (unread) => before + unread,
  });
  /** Before the first call. A list may start here. */
  const list = (before: string): State => {
    const state: State = {
      step(piece, from) {
        const at = afterSpace(piece, from);
        if (at >= piece.length) return null;
        const opened = piece[at] === '[' ? at + 1 : at;
        const read = before + piece.slice(from, opened);
        if (schemaOf !== undefined && read.trim() !== '') {
          const python = startsPythonCall(piece, opened, accepts);
          if (python === 'open') return null;
          if (python) return { at: opened, next: python1(read, schemaOf) };
        }
        if (opened > at || piece[at] === '{') return { at: opened, next: call(read) };
        return { at: from, next: literal(before) };
      },
      flush: (unread) => before + unread,
    };
    return state;
  };
  /** Text that turned out to be no call, followed by the rest of the answer. */
  const literal = (before: string): State => ({
    step(_, from, out) {
      if (before !== '') out.push({ type: 'text', text: before });
      return { at: from, next: otherwise() };
    },
    flush: (unread) => before + unread,
  });
  const after = { done: () => between(), failed: otherwise };
  const call = (before: string): State => oneCall(before, accepts, after);
  const python1 = (before: string, schemas: SchemaOf): State => pythonCall(before, accepts, schemas, after);
  /** Between two calls, or after the last. */
  const between = (): State => {
    const state: State = {
      step(piece, from) {
        const at = afterSpace(piece, from);
        if (at >= piece.length) return { at, next: state };
        if (piece.startsWith(PYTHON_TAG, at)) return { at: at + PYTHON_TAG.length, next: state };
        if (piece[at] === '{') return { at, next: call('') };
        if (CLOSERS.has(piece[at] as string)) return { at: at + 1, next: state };
        if (PYTHON_TAG.startsWith(piece.slice(at))) return { at, next: state };
        const python = schemaOf === undefined ? false : startsPythonCall(piece, at, accepts);
        if (python === 'open') return { at, next: state };
        if (python && schemaOf !== undefined) return { at, next: python1('', schemaOf) };
        return { at, next: otherwise() };
      },
      flush: (unread) => unread,
    };
    return state;
  };
  return start();
}
