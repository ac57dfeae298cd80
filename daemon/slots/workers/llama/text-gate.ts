import { longestOpenEnd } from './stop-scanner.ts';

/** Opens once a text has passed a mark. */
export interface TextGate {
  readonly open: boolean;
  push(piece: string): void;
}

/** A gate that `mark` opens, wherever the pieces are cut; null is open from the beginning. */
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
