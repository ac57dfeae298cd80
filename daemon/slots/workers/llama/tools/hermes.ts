import { bareStart } from './bare-json.ts';
import type { CallScanner } from './pieces.ts';
import { type Accepts, oneCall, type State, scanner, untilMark } from './scanner.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** Characters between a call and its end, including the models' stray braces. */
const GAP = /[\s}]/;

/**
 * Hermes and Qwen: any number of `<tool_call>{"name", "arguments"}</tool_call>` inside the text. Also reads
 * an answer that starts with a call of an `offered` tool as bare JSON, because Qwen2.5-Coder omits the tags
 * that its template requests.
 */
export function hermesCalls(accepts: Accepts, offered: Accepts = () => false): CallScanner {
  const outside = (): State => untilMark(OPEN, inside);
  const inside = (): State => oneCall(OPEN, accepts, { done: closing, failed: outside });
  const closing = (): State => {
    const state: State = {
      step(text, from) {
        let at = from;
        while (at < text.length && GAP.test(text[at] as string)) at += 1;
        if (text.startsWith(CLOSE, at)) return { at: at + CLOSE.length, next: outside() };
        const mayCome = CLOSE.startsWith(text.slice(at, at + CLOSE.length));
        return mayCome ? { at, next: state } : { at, next: outside() };
      },
      flush: () => '',
    };
    return state;
  };
  return scanner(bareStart(offered, { marks: [OPEN], otherwise: outside }));
}
