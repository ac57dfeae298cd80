import { jsonValue } from './json-value.ts';
import type { ScannedPiece } from './pieces.ts';

/** The result of reading a part of the text. `end` is where the call object ended, or -1 while it continues. */
export interface CallPart {
  found: ScannedPiece[];
  end: number;
  /** True: it is no call, and nothing was emitted. */
  failed: boolean;
}

const ARGUMENT_KEYS: ReadonlySet<string> = new Set(['arguments', 'parameters']);
const MAX_NAME_CHARS = 256;

type ParseState = 'open' | 'key' | 'colon' | 'value' | 'comma';

/** The next state for each punctuation mark. */
const NEXT: Readonly<Record<ParseState, Readonly<Record<string, ParseState | 'end'>>>> = {
  open: { '{': 'key' },
  key: {},
  colon: { ':': 'value' },
  value: {},
  comma: { ',': 'key', '}': 'end' },
};

/**
 * Reads one call `{"name": …, "arguments": {…}}` (or `parameters`) incrementally, in either key order, and
 * ignores other keys. Emits the call once `accepts` allows its name and its arguments have started. Unpacks
 * arguments that are JSON in a string. An emitted call ends with its object, with or without the last brace.
 */
export class JsonCall {
  readonly #accepts: (name: string) => boolean;
  #place: ParseState = 'open';
  #value = jsonValue();
  #key = '';
  /** The current key or value, while it must be known completely. */
  #buffer = '';
  /** Whether the current key or value has started. */
  #started = false;
  #name: string | null = null;
  /** Arguments that arrived before the name. */
  #early: string | null = null;
  #hasArguments = false;
  #emitted = false;
  #found: ScannedPiece[] = [];

  constructor(accepts: (name: string) => boolean) {
    this.#accepts = accepts;
  }

  /** Consumes the part of `text` from `from` that belongs to the call. */
  push(text: string, from: number): CallPart {
    let at = from;
    while (at < text.length) {
      const c = text[at] as string;
      const punctuated = this.#place !== 'value' && (this.#place !== 'key' || this.#emptyAt(c));
      if (punctuated) {
        at += 1;
        const next = /\s/.test(c)
          ? this.#place
          : c === '}' && this.#place === 'key'
            ? 'end'
            : NEXT[this.#place][c];
        if (next === undefined) return this.#broken(this.#emitted ? at - 1 : at);
        if (next === 'end') return this.#close(at);
        this.#place = next;
      } else {
        this.#started = true;
        const { out, end } = this.#value.push(text, at);
        const good = this.#place === 'key' ? this.#readKey(out, end >= 0) : this.#readValue(out, end >= 0);
        if (!good) return this.#broken(end < 0 ? text.length : end);
        if (end < 0) break;
        at = end;
      }
    }
    return { found: this.#take(), end: -1, failed: false };
  }

  /** Between the brace or comma and the key. */
  #emptyAt(c: string): boolean {
    return !this.#started && (c === '}' || /\s/.test(c));
  }

  #readKey(out: string, ended: boolean): boolean {
    this.#buffer += out;
    if (!ended) return true;
    const key = readString(this.#buffer);
    if (key === null) return false;
    this.#key = key;
    this.#next('colon');
    return true;
  }

  #readValue(out: string, ended: boolean): boolean {
    const good =
      this.#key === 'name'
        ? this.#readName(out, ended)
        : !ARGUMENT_KEYS.has(this.#key) || this.#readArguments(out, ended);
    if (ended) this.#next('comma');
    return good;
  }

  #readName(out: string, ended: boolean): boolean {
    this.#buffer += out;
    if (this.#buffer.length > MAX_NAME_CHARS) return false;
    if (!ended) return true;
    this.#name = readString(this.#buffer);
    return this.#name !== null && this.#accepts(this.#name);
  }

  #readArguments(out: string, ended: boolean): boolean {
    if (out === '' && !ended) return true;
    this.#hasArguments = true;
    const whole = this.#name === null || !(this.#buffer === '' ? out : this.#buffer).startsWith('{');
    if (!whole) {
      this.#buffer = '{';
      this.#emit();
      if (out !== '') this.#found.push({ type: 'arguments', text: out });
      return true;
    }
    this.#buffer += out;
    if (ended) this.#early = unpack(this.#buffer);
    return true;
  }

  #next(place: ParseState): void {
    this.#place = place;
    this.#buffer = '';
    this.#started = false;
    this.#value = jsonValue();
  }

  #emit(): void {
    if (this.#emitted || this.#name === null) return;
    this.#emitted = true;
    this.#found.push({ type: 'call', name: this.#name });
  }

  #close(at: number): CallPart {
    if (this.#name === null) return this.#broken(at);
    this.#emit();
    const late = this.#early ?? (this.#hasArguments ? null : '{}');
    if (late !== null) this.#found.push({ type: 'arguments', text: late });
    return this.#broken(at);
  }

  /** Ends an emitted call, or gives up on text that is no call. */
  #broken(at: number): CallPart {
    if (this.#emitted) this.#found.push({ type: 'callEnd' });
    return { found: this.#take(), end: at, failed: !this.#emitted };
  }

  #take(): ScannedPiece[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }
}

function readString(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/**
 * Converts arguments that are a string of JSON (or Python syntax) to JSON. Null and other words become no
 * arguments.
 */
function unpack(text: string): string {
  if (text.startsWith('{')) return text;
  const inner = readString(text);
  if (inner === null || inner.trim() === '') return '{}';
  return isJson(inner) ? inner : jsonValue().push(inner, 0).out;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
