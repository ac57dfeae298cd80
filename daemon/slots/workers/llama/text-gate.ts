import { longestOpenEnd } from './stop-scanner.ts';

/** Opens once a mark has passed in the text. */
export interface TextGate {
  readonly open: boolean;
  push(piece: string): void;
}

/** Creates a gate that `mark` opens, also across pieces. Null: open from the beginning. */
export function textGate(mark: string | null): TextGate {
  let held = '';
  let open = mark === null;
  return {
    get open() {
      return open;
    },
    push(piece) {
      if (open || mark === null) return;
      const text = held + piece;
      open = text.includes(mark);
      held = text.slice(text.length - longestOpenEnd(text, [mark]));
    },
  };
}
