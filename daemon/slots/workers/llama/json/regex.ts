import { type CharSet, charSet, DIGIT, DOT, inverted, SPACE, WORD } from './char-set.ts';

/** The syntax tree of a regular expression. */
export type RegexNode =
  | { type: 'chars'; set: CharSet }
  | { type: 'row'; parts: readonly RegexNode[] }
  | { type: 'choice'; options: readonly RegexNode[] }
  | { type: 'repeat'; what: RegexNode; least: number; most: number | null };

/** One alternative of a regular expression. A text matches when it matches one of them. */
export interface Regex {
  readonly root: RegexNode;
  /** False: any text may precede or follow the match. */
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

/** Thrown for a pattern that is invalid or cannot be expressed as a grammar; the message says which. */
export class RegexFault extends Error {}

const MAX_PATTERN_CHARS = 2_000;
const MAX_DEPTH = 32;
const CLASSES: Readonly<Record<string, CharSet>> = { d: DIGIT, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0 };
const COUNT = /^\{(\d+)(?:(,)(\d*))?\}/;

/**
 * Parses a pattern in ECMA 262 syntax into its alternatives. Throws RegexFault for what is not regular (back
 * references, lookaround), for `^` and `$` inside an alternative, and for unsupported syntax (`\b`, `\p{…}`).
 */
export function parseRegex(source: string): Regex[] {
  if (source.length > MAX_PATTERN_CHARS)
    throw new RegexFault(`it is longer than ${MAX_PATTERN_CHARS} characters`);
  if (!isRegex(source, 'u') && !isRegex(source, '')) throw new RegexFault('it is not a regular expression');
  return new Parser(source).all();
}

/**
 * Without the Unicode flag, a backslash may precede any character (ECMA-262, Annex B). Escape functions such as
 * Python's `re.escape` write such patterns.
 */
function isRegex(source: string, flags: '' | 'u'): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}

class Parser {
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#chars = [...source];
  }

  all(): Regex[] {
    const alternatives: Regex[] = [];
    do {
      if (alternatives.length > 0) this.#at += 1;
      const fromStart = this.#skip('^');
      const root = this.#row();
      alternatives.push({ root, fromStart, toEnd: this.#skip('$') });
    } while (this.#here === '|');
    if (this.#at < this.#chars.length) throw new RegexFault(`"${this.#here}" is not expected here`);
    return alternatives;
  }

  #skip(sign: string): boolean {
    const isHere = this.#here === sign;
    if (isHere) this.#at += 1;
    return isHere;
  }

  get #here(): string {
    return this.#chars[this.#at] ?? '';
  }

  #rest(length: number): string {
    return this.#chars.slice(this.#at, this.#at + length).join('');
  }

  #take(): string {
    const char = this.#here;
    this.#at += 1;
    return char;
  }

  #choice(): RegexNode {
    if (++this.#depth > MAX_DEPTH) throw new RegexFault(`its groups are nested deeper than ${MAX_DEPTH}`);
    const options = [this.#row()];
    while (this.#here === '|') {
      this.#at += 1;
      options.push(this.#row());
    }
    this.#depth -= 1;
    return options.length === 1 ? (options[0] as RegexNode) : { type: 'choice', options };
  }

  #row(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#at < this.#chars.length && this.#here !== '|' && this.#here !== ')' && !this.#atFinalAnchor)
      parts.push(this.#repeated(this.#one()));
    return parts.length === 1 ? (parts[0] as RegexNode) : { type: 'row', parts };
  }

  /** Whether an alternative of the whole pattern ends here with an anchor. */
  get #atFinalAnchor(): boolean {
    const next = this.#chars[this.#at + 1];
    return this.#depth === 0 && this.#here === '$' && (next === undefined || next === '|');
  }

  #repeated(what: RegexNode): RegexNode {
    const times = this.#times();
    if (times === null) return what;
    if (this.#here === '?') this.#at += 1;
    return { type: 'repeat', what, ...times };
  }

  #times(): { least: number; most: number | null } | null {
    const signs: Readonly<Record<string, [number, number | null]>> = {
      '*': [0, null],
      '+': [1, null],
      '?': [0, 1],
    };
    const sign = signs[this.#here];
    if (sign !== undefined) {
      this.#at += 1;
      return { least: sign[0], most: sign[1] };
    }
    const count = this.#here === '{' ? COUNT.exec(this.#rest(32)) : null;
    if (count === null) return null;
    this.#at += count[0].length;
    const least = Number(count[1]);
    return { least, most: count[2] === undefined ? least : count[3] === '' ? null : Number(count[3]) };
  }

  #one(): RegexNode {
    const char = this.#take();
    if (char === '(') return this.#group();
    if (char === '[') return { type: 'chars', set: this.#class() };
    if (char === '.') return { type: 'chars', set: DOT };
    if (char === '^' || char === '$') throw new RegexFault(`"${char}" is supported at its rim only`);
    return { type: 'chars', set: char === '\\' ? this.#escape(false) : one(char) };
  }

  #group(): RegexNode {
    if (this.#here === '?') {
      const named = /^\?<[A-Za-z_]\w*>/.exec(this.#rest(64));
      if (named !== null) this.#at += named[0].length;
      else if (this.#rest(2) === '?:') this.#at += 2;
      else throw new RegexFault(`"(${this.#rest(2)}" is not supported`);
    }
    const inner = this.#choice();
    this.#at += 1;
    return inner;
  }

  #class(): CharSet {
    const negated = this.#here === '^';
    if (negated) this.#at += 1;
    const ranges: (readonly [number, number])[] = [];
    while (this.#here !== ']') {
      const from = this.#member();
      if (this.#here === '-' && this.#chars[this.#at + 1] !== ']' && isOne(from)) {
        this.#at += 1;
        const [first, to] = [from[0], this.#member()];
        const last = to[0];
        // Annex B: a class next to the hyphen makes it a character.
        if (isOne(to) && first !== undefined && last !== undefined) ranges.push([first[0], last[1]]);
        else ranges.push(...from, ...one('-'), ...to);
      } else ranges.push(...from);
    }
    this.#at += 1;
    return negated ? inverted(charSet(ranges)) : charSet(ranges);
  }

  #member(): CharSet {
    const char = this.#take();
    return char === '\\' ? this.#escape(true) : one(char);
  }

  #escape(inClass: boolean): CharSet {
    const char = this.#take();
    const known =
      CLASSES[char] ??
      (CLASSES[char.toLowerCase()] ? inverted(CLASSES[char.toLowerCase()] as CharSet) : null);
    if (known !== null) return known;
    if (inClass && char === 'b') return [[8, 8]];
    if (Object.hasOwn(CONTROLS, char)) return code(CONTROLS[char] as number);
    if (char === 'x') return code(Number.parseInt(this.#digits(2), 16));
    if (char === 'u') return code(this.#unicode());
    if (/[A-Za-z0-9]/.test(char)) throw new RegexFault(`"\\${char}" is not supported`);
    return one(char);
  }

  #unicode(): number {
    if (this.#here !== '{') return Number.parseInt(this.#digits(4), 16);
    const close = this.#chars.indexOf('}', this.#at);
    const digits = this.#chars.slice(this.#at + 1, close).join('');
    this.#at = close + 1;
    return Number.parseInt(digits, 16);
  }

  #digits(count: number): string {
    const digits = this.#rest(count);
    this.#at += count;
    return digits;
  }
}

const code = (value: number): CharSet => [[value, value]];
const one = (char: string): CharSet => code(char.codePointAt(0) ?? 0);
const isOne = (set: CharSet): boolean => set.length === 1 && set[0]?.[0] === set[0]?.[1];
