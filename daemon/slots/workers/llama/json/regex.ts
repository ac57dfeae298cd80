import { type CharSet, charSet, DIGIT, DOT, inverted, SPACE, WORD } from './char-set.ts';

/** The syntax tree of a regular expression. */
export type RegexNode =
  | { type: 'chars'; set: CharSet }
  | { type: 'row'; parts: readonly RegexNode[] }
  | { type: 'choice'; options: readonly RegexNode[] }
  | { type: 'repeat'; what: RegexNode; least: number; most: number | null };

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
 * Parses a pattern in ECMA 262 syntax. Throws RegexFault for what is not regular (back references,
 * lookaround), for `^` and `$` inside a pattern, and for unsupported syntax (`\b`, `\p{…}`).
 */
export function parseRegex(source: string): Regex {
  if (source.length > MAX_PATTERN_CHARS)
    throw new RegexFault(`it is longer than ${MAX_PATTERN_CHARS} characters`);
  try {
    new RegExp(source, 'u');
  } catch {
    throw new RegexFault('it is not a regular expression');
  }
  const fromStart = source.startsWith('^');
  const toEnd = endsInAnchor(source);
  const parser = new Parser(source.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined));
  const root = parser.all();
  // An anchor at one end belongs only to its own alternative.
  if ((fromStart || toEnd) && root.type === 'choice')
    throw new RegexFault(
      'with "|" outside a group, "^" and "$" apply to one side only; put the alternatives in a group',
    );
  return { root, fromStart, toEnd };
}

function endsInAnchor(source: string): boolean {
  if (!source.endsWith('$')) return false;
  const escapes = /\\*$/.exec(source.slice(0, -1))?.[0].length ?? 0;
  return escapes % 2 === 0;
}

class Parser {
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#chars = [...source];
  }

  all(): RegexNode {
    const root = this.#choice();
    if (this.#at < this.#chars.length) throw new RegexFault(`"${this.#here}" is not expected here`);
    return root;
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
    while (this.#at < this.#chars.length && this.#here !== '|' && this.#here !== ')')
      parts.push(this.#repeated(this.#one()));
    return parts.length === 1 ? (parts[0] as RegexNode) : { type: 'row', parts };
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
      if (this.#here === '-' && this.#chars[this.#at + 1] !== ']' && from.length === 1) {
        this.#at += 1;
        const to = this.#member();
        ranges.push([from[0]?.[0] ?? 0, to[0]?.[1] ?? 0]);
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
