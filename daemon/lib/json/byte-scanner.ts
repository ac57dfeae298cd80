import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../contract/errors.ts';
import { BACKSLASH, escapeEnd, INVALID_ESCAPE, QUOTE, runEnd } from './json-string.ts';

/** A half-open range of bytes. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Visits the members of an object. An interface instead of a function: V8 drops the compiled code of closures
 * that are created per text with every full collection.
 */
export interface ObjectVisitor {
  /**
   * Called at each value, with the offset after the delimiter before the member and the range of its key
   * (quotes included). Must consume the value.
   */
  member(before: number, keyStart: number, keyEnd: number): void;
}

/** Visits the elements of an array. */
export interface ArrayVisitor {
  /** Called at each value, with the offset after the delimiter before it. Must consume the value. */
  element(before: number): void;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

/** Maximum nesting depth. The outermost value counts as one. */
const MAX_DEPTH = 64;
/** Maximum number of object keys in one text. */
const MAX_KEYS = 250_000;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const LITERALS = { true: Buffer.from('true'), false: Buffer.from('false'), null: Buffer.from('null') };
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/**
 * Scans the bytes of one JSON text once, in place, without a copy. Accepts exactly what `JSON.parse` accepts
 * (strict grammar, valid UTF-8, no byte order mark). Linear in the length. Throws `request.invalid_json` for
 * anything else, for nesting above 64 and for more than 250,000 object keys.
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

  /** Returns the kind of the value that starts here. Consumes nothing. */
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

  /** Consumes an object. */
  object(visitor?: ObjectVisitor): void {
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
        if (visitor) visitor.member(before, keyStart, keyEnd);
        else this.value();
        this.space();
        if (this.bytes[this.at] !== COMMA) break;
        before = ++this.at;
        this.space();
      }
    }
    this.#close(CLOSE_BRACE);
  }

  /** Consumes an array. */
  array(visitor?: ArrayVisitor): void {
    this.#open();
    let before = this.at;
    this.space();
    if (this.bytes[this.at] !== CLOSE_BRACKET) {
      for (;;) {
        if (visitor) visitor.element(before);
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

  /** Throws unless only white space is left. */
  end(): void {
    this.space();
    if (this.at !== this.bytes.length) fail();
  }

  /** Consumes a string. */
  string(): void {
    const { bytes } = this;
    if (bytes[this.at] !== QUOTE) fail();
    const view = this.#view;
    const end = bytes.length;
    let at = runEnd(bytes, view, this.at + 1, end);
    while (bytes[at] === BACKSLASH) {
      at = escapeEnd(bytes, at);
      if (at === INVALID_ESCAPE) fail();
      at = runEnd(bytes, view, at, end);
    }
    if (bytes[at] !== QUOTE) fail();
    this.at = at + 1;
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

function fail(why?: string): never {
  const message = why === undefined ? undefined : `The body is not accepted as JSON: ${why}.`;
  throw new GatewayError('request.invalid_json', { message });
}

/** Returns the decoded text of the string at `range` (quotes included). */
export function stringAt(bytes: Buffer, range: Range): string {
  const inner = bytes.toString('utf8', range.start + 1, range.end - 1);
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
}
