import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../contract/errors.ts';

/** A half-open range of bytes. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/** Deepest nesting that is accepted; the outermost value counts as one. */
const MAX_DEPTH = 64;
/** Most object keys in one text. */
const MAX_KEYS = 250_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;

const LITERALS = { true: Buffer.from('true'), false: Buffer.from('false'), null: Buffer.from('null') };
/** 1 for each byte that may follow a backslash alone. */
const ESCAPES = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = 1;
/** 1 for each byte that ends a plain run inside a string: quote, backslash, control bytes. */
const ENDS_RUN = new Uint8Array(256).fill(1, 0, 0x20);
ENDS_RUN[QUOTE] = 1;
ENDS_RUN[BACKSLASH] = 1;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number | undefined): boolean =>
  byte !== undefined && (isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66));

/**
 * Walks the bytes of one JSON text once, in place: accepts exactly what `JSON.parse` accepts (strict grammar, valid
 * UTF-8, no byte order mark), finds where things lie, makes no copy of the text. Linear in the length.
 * Throws `request.invalid_json` for anything else, for nesting beyond 64 and for more than 250,000 object keys.
 */
export class ByteScanner {
  readonly bytes: Buffer;
  /** Offset of the next byte. */
  at = 0;
  #depth = 0;
  #keys = 0;
  readonly #view: DataView;

  constructor(bytes: Buffer) {
    if (!isUtf8(bytes)) fail('it is not UTF-8');
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.space();
  }

  /** The kind of the value that starts here; nothing is consumed. */
  kind(): JsonKind {
    switch (this.bytes[this.at]) {
      case OPEN_BRACE:
        return 'object';
      case OPEN_BRACKET:
        return 'array';
      case QUOTE:
        return 'string';
      case 0x74:
        return 'true';
      case 0x66:
        return 'false';
      case 0x6e:
        return 'null';
      default:
        return 'number';
    }
  }

  /** Consumes one value of any kind. */
  value(): JsonKind {
    const kind = this.kind();
    if (kind === 'string') this.string();
    else if (kind === 'object') this.object();
    else if (kind === 'array') this.array();
    else if (kind === 'number') this.#number();
    else this.#literal(LITERALS[kind]);
    return kind;
  }

  /**
   * Consumes an object. `member` is called at each value with the offset after the delimiter before the member and the
   * range of its key (quotes included); it has to consume the value.
   */
  object(member?: (before: number, keyStart: number, keyEnd: number) => void): void {
    this.#open();
    let before = this.at;
    this.space();
    if (this.bytes[this.at] !== CLOSE_BRACE) {
      for (;;) {
        const keyStart = this.at;
        this.string();
        const keyEnd = this.at;
        if (++this.#keys > MAX_KEYS) fail('it has too many keys');
        this.space();
        if (this.bytes[this.at] !== COLON) fail();
        this.at++;
        this.space();
        if (member) member(before, keyStart, keyEnd);
        else this.value();
        this.space();
        if (this.bytes[this.at] !== COMMA) break;
        before = ++this.at;
        this.space();
      }
    }
    this.#close(CLOSE_BRACE);
  }

  /** Consumes an array. `element` is called at each value with the offset after the delimiter before it; it has to consume the value. */
  array(element?: (before: number) => void): void {
    this.#open();
    let before = this.at;
    this.space();
    if (this.bytes[this.at] !== CLOSE_BRACKET) {
      for (;;) {
        if (element) element(before);
        else this.value();
        this.space();
        if (this.bytes[this.at] !== COMMA) break;
        before = ++this.at;
        this.space();
      }
    }
    this.#close(CLOSE_BRACKET);
  }

  /** Consumes white space. */
  space(): void {
    const { bytes } = this;
    let at = this.at;
    for (;;) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
      at++;
    }
    this.at = at;
  }

  /** Requires that nothing but white space is left. */
  end(): void {
    this.space();
    if (this.at !== this.bytes.length) fail();
  }

  /** Consumes a string. */
  string(): void {
    const { bytes } = this;
    if (bytes[this.at] !== QUOTE) fail();
    let at = this.#plainEnd(this.at + 1);
    while (bytes[at] === BACKSLASH) at = this.#plainEnd(this.#escape(at + 1));
    if (bytes[at] !== QUOTE) fail();
    this.at = at + 1;
  }

  /**
   * Offset of the next quote, backslash or control byte from `from` on; the length when there is none. Eight bytes are
   * looked at together, at the end of the text single ones.
   */
  #plainEnd(from: number): number {
    const { bytes } = this;
    const view = this.#view;
    let at = from;
    for (const last = bytes.length - 8; at <= last; at += 8) {
      const first = marks(view.getInt32(at, true));
      if (first !== 0) return at + lowest(first);
      const second = marks(view.getInt32(at + 4, true));
      if (second !== 0) return at + 4 + lowest(second);
    }
    while (at < bytes.length && ENDS_RUN[bytes[at] as number] === 0) at++;
    return at;
  }

  #escape(at: number): number {
    const { bytes } = this;
    const letter = bytes[at];
    if (letter === LOWER_U) {
      for (let digit = 1; digit <= 4; digit++) if (!isHex(bytes[at + digit])) fail();
      return at + 5;
    }
    if (letter === undefined || ESCAPES[letter] !== 1) fail();
    return at + 1;
  }

  #number(): void {
    const { bytes } = this;
    if (bytes[this.at] === 0x2d) this.at++;
    if (bytes[this.at] === 0x30) this.at++;
    else this.#digits();
    if (bytes[this.at] === 0x2e) {
      this.at++;
      this.#digits();
    }
    if (((bytes[this.at] ?? 0) | 0x20) !== 0x65) return;
    this.at++;
    if (bytes[this.at] === 0x2b || bytes[this.at] === 0x2d) this.at++;
    this.#digits();
  }

  #digits(): void {
    if (!isDigit(this.bytes[this.at])) fail();
    while (isDigit(this.bytes[this.at])) this.at++;
  }

  #literal(word: Buffer): void {
    for (const byte of word) if (this.bytes[this.at++] !== byte) fail();
  }

  #open(): void {
    if (++this.#depth > MAX_DEPTH) fail(`it is nested deeper than ${MAX_DEPTH}`);
    this.at++;
  }

  #close(byte: number): void {
    if (this.bytes[this.at] !== byte) fail();
    this.#depth--;
    this.at++;
  }
}

/**
 * The high bit of each of four bytes that is a quote, a backslash or below 0x20. The lowest bit that is set is right;
 * above it there may be false alarms.
 */
function marks(word: number): number {
  // Turning over bit 1 puts the quote to 0x20, right above the control bytes, and keeps those among themselves.
  const low = word ^ 0x02020202;
  const slash = word ^ 0x5c5c5c5c;
  return (((low - 0x21212121) & ~low) | ((slash - 0x01010101) & ~slash)) & 0x80808080;
}

/** The lowest of the bytes that `marks` has marked. */
const lowest = (flags: number): number => (31 - Math.clz32(flags & -flags)) >> 3;

function fail(why?: string): never {
  const message = why === undefined ? undefined : `The body is not accepted as JSON: ${why}.`;
  throw new GatewayError('request.invalid_json', { message });
}

/** The text of the string at `range` (quotes included), escapes decoded. */
export function stringAt(bytes: Buffer, range: Range): string {
  const inner = bytes.toString('utf8', range.start + 1, range.end - 1);
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
}
