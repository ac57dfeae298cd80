/** Reads one JSON value from a text stream, for any split into pieces. */
export interface JsonValue {
  /**
   * Consumes the part of `text` from `from` that belongs to the value. `end` is where the value ended, or -1
   * while it continues. `out` is the value without whitespace between its parts. A bare number or word ends
   * before the first character that cannot belong to it.
   */
  push(text: string, from: number): { out: string; end: number };
}

const SPACE = /\s/;
const AFTER_BARE = /[\s,\]}]/;
const BARE = /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/;
/** Python's names of these values. */
const PYTHON: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
const ESCAPES = '"\\/bfnrtu';
const CONTROLS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Reads by counting brackets and tracking strings. It does not validate JSON. Python-like output becomes
 * JSON: single-quoted strings, `True`, `None`, trailing commas, line breaks in strings and invalid escapes.
 * Any other bare word becomes a string.
 */
export function jsonValue(): JsonValue {
  const string = stringReader();
  let depth = 0;
  let started = false;
  /** A number or word, and the comma before it, which requires a following value. */
  let word = '';
  let comma = '';
  const flush = (): string => {
    const bare = word.trim();
    word = '';
    if (bare === '') return '';
    const before = comma;
    comma = '';
    return before + (PYTHON[bare] ?? (BARE.test(bare) ? bare : JSON.stringify(bare)));
  };
  const before = (): string => {
    const pending = flush() + comma;
    comma = '';
    return pending;
  };
  /** Returns what a character outside of strings adds. */
  const outside = (c: string): string => {
    if (c === '"' || c === "'") return before() + string.open(c);
    if (c === ',') {
      const pending = before();
      comma = c;
      return pending;
    }
    if (c === ':') return flush() + c;
    if (c === '{' || c === '[') {
      depth += 1;
      return before() + c;
    }
    if (c === '}' || c === ']') {
      depth -= 1;
      const pending = flush();
      comma = '';
      return pending + c;
    }
    word += c;
    return '';
  };
  return {
    push(text, from) {
      let out = '';
      for (let at = from; at < text.length; at++) {
        const c = text[at] as string;
        const between = !string.inside;
        if (between && depth === 0 && started && AFTER_BARE.test(c)) return { out: out + flush(), end: at };
        if (between && SPACE.test(c)) {
          if (word !== '') word += ' ';
          continue;
        }
        started = true;
        out += between ? outside(c) : string.take(c);
        const ends = !string.inside && depth === 0 && (between ? c === '}' || c === ']' : true);
        if (ends) return { out, end: at + 1 };
      }
      return { out, end: -1 };
    },
  };
}

/** Reads string contents one after another and returns them as JSON. */
function stringReader() {
  let quote = '';
  let escaped = false;
  return {
    get inside(): boolean {
      return quote !== '';
    },
    open(c: string): string {
      quote = c;
      return '"';
    },
    take(c: string): string {
      if (escaped) {
        escaped = false;
        if (c === "'") return c;
        return ESCAPES.includes(c) ? `\\${c}` : `\\\\${CONTROLS[c] ?? c}`;
      }
      if (c === '\\') {
        escaped = true;
        return '';
      }
      if (c === quote) {
        quote = '';
        return '"';
      }
      if (c === '"') return '\\"';
      return c < ' ' ? (CONTROLS[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`) : c;
    },
  };
}
