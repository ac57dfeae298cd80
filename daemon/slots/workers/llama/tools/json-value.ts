/** One JSON value out of a stream of text: the places between the pieces do not matter. */
export interface JsonValue {
  /**
   * Takes what belongs to the value from `text` at `from`. `end` is where the value ended, or -1 while it goes on; `out` is
   * the value without the spaces between its parts. A bare number or word ends before the character that cannot belong to it.
   */
  push(text: string, from: number): { out: string; end: number };
}

const SPACE = /\s/;
const AFTER_BARE = /[\s,\]}]/;

/** Reads by counting brackets and watching strings; it does not check that what stands between them is JSON. */
export function jsonValue(): JsonValue {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let begun = false;
  /** Answers whether the value ends after this character. */
  const step = (c: string): boolean => {
    if (inString) {
      if (escaped) escaped = false;
      else if (c === '\\') escaped = true;
      else if (c === '"') {
        inString = false;
        return depth === 0;
      }
      return false;
    }
    if (c === '"') inString = true;
    else if (c === '{' || c === '[') depth += 1;
    else if (c === '}' || c === ']') {
      depth -= 1;
      return depth === 0;
    }
    return false;
  };
  return {
    push(text, from) {
      let out = '';
      for (let at = from; at < text.length; at++) {
        const c = text[at] as string;
        if (!inString && depth === 0 && begun && AFTER_BARE.test(c)) return { out, end: at };
        if (!inString && SPACE.test(c)) continue;
        begun = true;
        out += c;
        if (step(c)) return { out, end: at + 1 };
      }
      return { out, end: -1 };
    },
  };
}
