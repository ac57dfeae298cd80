import type { CallScanner } from './pieces.ts';
import {
  type Accepts,
  afterSpace,
  argumentValue,
  markAt,
  type State,
  scanner,
  untilMarks,
} from './scanner.ts';

/** The marks of models that write `call HEAD {arguments} end`, with several calls in a section. */
export interface SectionMarks {
  /** The marks that open a section. A call may also occur without one. */
  opens: readonly string[];
  closes: readonly string[];
  call: string;
  callEnd: string;
  /** Returns name and id from the text between `call` and the arguments. Null when it is no call. */
  head(text: string): { name: string; id?: string } | null;
}

/** Maximum length of the text before the arguments. */
const MAX_HEAD_CHARS = 512;
const FENCE = '```';

/** Reads text, then calls with the given marks. */
export function sectionedCalls(marks: SectionMarks, accepts: Accepts): CallScanner {
  const outside = (): State =>
    untilMarks({
      ...Object.fromEntries(marks.opens.map((open) => [open, () => section(open)])),
      [marks.call]: () => head(marks.call),
    });
  /** In a section, before its first call. */
  const section = (open: string): State => {
    const state: State = {
      step(text, from, out) {
        const at = afterSpace(text, from);
        const mark = at >= text.length ? 'open' : markAt(text, [marks.call], at);
        if (mark === 'open') return null;
        if (mark !== null) return { at: at + mark.length, next: head(open + text.slice(from, at) + mark) };
        out.push({ type: 'text', text: open });
        return { at: from, next: outside() };
      },
      flush: (unread) => open + unread,
    };
    return state;
  };
  const head = (before: string): State => ({
    step(text, from, out) {
      const end = headEnd(text, from, marks.callEnd);
      if (end === 'open' && text.length - from <= MAX_HEAD_CHARS) return null;
      const at = end === 'open' ? text.length : end;
      const called = end === 'open' ? null : marks.head(text.slice(from, at));
      if (called === null || !accepts(called.name)) {
        out.push({ type: 'text', text: before });
        return { at: from, next: outside() };
      }
      out.push({ type: 'call', ...called });
      if (text[at] === '{') return { at, next: argumentValue(after) };
      out.push({ type: 'arguments', text: '{}' }, { type: 'callEnd' });
      return { at, next: after() };
    },
    flush: (unread) => before + unread,
  });
  /** After the arguments of a call: its end, the next call or the end of the section. */
  const after = (): State => {
    const ends = [FENCE, marks.callEnd, ...marks.closes];
    const state: State = {
      step(text, from) {
        const at = afterSpace(text, from);
        if (at >= text.length) return { at, next: state };
        const mark = markAt(text, [...ends, marks.call], at);
        if (mark === 'open') return { at, next: state };
        if (mark === marks.call) return { at: at + mark.length, next: head(mark) };
        return mark === null ? { at, next: outside() } : { at: at + mark.length, next: state };
      },
      flush: () => '',
    };
    return state;
  };
  return scanner(outside());
}

/** Returns where the head of a call ends: at its arguments, or at the end of a call without arguments. */
function headEnd(text: string, from: number, callEnd: string): number | 'open' {
  const brace = text.indexOf('{', from);
  const end = text.indexOf(callEnd, from);
  if (brace < 0) return end < 0 ? 'open' : end;
  return end < 0 ? brace : Math.min(brace, end);
}

const NAME = /^[^\s<>{}`]{1,256}$/;

/** Returns `name` when it is a valid function name. */
export function asName(name: string): string | null {
  const bare = name.trim();
  return NAME.test(bare) ? bare : null;
}
