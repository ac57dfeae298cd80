import type { CallScanner } from './pieces.ts';
import { type Accepts, afterSpace, oneCall, type State, scanner, untilMark } from './scanner.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

/** Hermes and Qwen: any number of `<tool_call>{"name", "arguments"}</tool_call>` within the text. */
export function hermesCalls(accepts: Accepts): CallScanner {
  const outside = (): State => untilMark(OPEN, inside);
  const inside = (): State => oneCall(OPEN, accepts, { done: closing, failed: outside });
  const closing = (): State => {
    const state: State = {
      step(text, from) {
        const at = afterSpace(text, from);
        if (text.startsWith(CLOSE, at)) return { at: at + CLOSE.length, next: outside() };
        const mayCome = CLOSE.startsWith(text.slice(at, at + CLOSE.length));
        return mayCome ? { at, next: state } : { at, next: outside() };
      },
      rest: () => '',
    };
    return state;
  };
  return scanner(outside());
}
