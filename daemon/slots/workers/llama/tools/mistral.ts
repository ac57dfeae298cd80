import { bareStart } from './bare-json.ts';
import type { CallScanner } from './pieces.ts';
import {
  type Accepts,
  afterSpace,
  argumentValue,
  markAt,
  oneCall,
  type State,
  scanner,
  untilMark,
} from './scanner.ts';

const TOOL_CALLS = '[TOOL_CALLS]';
const ARGS = '[ARGS]';
const CALL_ID = '[CALL_ID]';
const END = '[/TOOL_CALLS]';
const MAX_NAME_CHARS = 256;

/**
 * Mistral: text, then `[TOOL_CALLS]` and a list `[{"name", "arguments"}, …]`. Newer models write
 * `[TOOL_CALLS]name[ARGS]{…}` for each call. Also reads a list of calls of `offered` tools at the start of
 * the answer without the mark, which models sometimes omit. A `mark` that ends in `[` begins
 * the list itself, as FireFunction's does.
 */
export function mistralCalls(
  accepts: Accepts,
  offered: Accepts = () => false,
  mark = TOOL_CALLS,
): CallScanner {
  const outside = (): State => untilMark(mark, mark.endsWith('[') ? () => entry(mark) : marked);
  const marked = (): State => {
    const state: State = {
      step(text, from) {
        const at = afterSpace(text, from);
        if (at >= text.length) return null;
        if (text[at] === '[') return { at: at + 1, next: entry(`${mark}[`) };
        return text[at] === '{' ? { at, next: entry(mark) } : { at, next: named() };
      },
      flush: (unread) => mark + unread,
    };
    return state;
  };
  const entry = (before: string): State => oneCall(before, accepts, { done: between, failed: outside });
  /** Between the entries of a list. */
  const between = (): State => {
    const state: State = {
      step(text, from) {
        const at = afterSpace(text, from);
        if (at >= text.length) return { at, next: state };
        if (text[at] === ',') return { at: at + 1, next: entry('') };
        return text[at] === ']' ? { at: at + 1, next: listed() } : { at, next: outside() };
      },
      flush: () => '',
    };
    return state;
  };
  /** After a list. Some templates use a mark for its end. */
  const listed = (): State => {
    const state: State = {
      step(text, from) {
        const at = afterSpace(text, from);
        const end = at >= text.length ? 'open' : markAt(text, [END], at);
        if (end === 'open') return null;
        return end === null ? { at: from, next: outside() } : { at: at + end.length, next: outside() };
      },
      flush: (unread) => unread,
    };
    return state;
  };
  /** `name[CALL_ID]id[ARGS]{…}`. The part in between is dropped. */
  const named = (): State => {
    const state: State = {
      step(text, from, out) {
        const brace = text.indexOf('{', from);
        const head = text.slice(from, brace < 0 ? text.length : brace);
        if (brace < 0 && head.length <= MAX_NAME_CHARS) return null;
        const name = (head.split(CALL_ID)[0] ?? '').replace(ARGS, '').trim();
        if (brace < 0 || !accepts(name) || /\s/.test(name)) {
          out.push({ type: 'text', text: mark });
          return { at: from, next: outside() };
        }
        out.push({ type: 'call', name });
        return { at: brace, next: argumentValue(outside) };
      },
      flush: (unread) => mark + unread,
    };
    return state;
  };
  return scanner(bareStart(offered, { marks: [mark], otherwise: outside }));
}
