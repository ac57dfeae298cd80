import { BACKSLASH, BROKEN, escapeEnd, QUOTE, runEnd, UNFINISHED } from './json-string.ts';

/** Bytes of a string that is worth a note, quotes included; so there are few, whatever the body. */
const LONG = 4 * 1024;
/** Of so many bytes half must lie in long strings; otherwise the rest is left to who reads them. */
const TRIAL = 128 * 1024;

const noted = new WeakMap<Uint8Array, LongStrings>();

/**
 * The long strings of a JSON text that is still coming, found and checked in what has come. Walking megabytes of text at once,
 * when the last byte is there, holds up every other stream for as long as it takes; walked as they come, bytes are warm and
 * others have their turns in between. Nothing is decided here: what is not found, whoever reads the text walks himself.
 */
export class LongStrings {
  readonly #ends = new Map<number, number>();
  #at = 0;
  /** Where the string began that is open at `#at`; -1 outside of one. */
  #start = -1;
  /** Bytes that lay in long strings. */
  #within = 0;
  #over = false;

  /** Goes on until `length`. The bytes before stay what they were, wherever they lie now. */
  advance(bytes: Uint8Array, length: number): void {
    if (this.#over) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    let at = this.#at;
    let start = this.#start;
    while (at < length) {
      if (start < 0) {
        while (at < length && bytes[at] !== QUOTE) at++;
        if (at === length) break;
        start = at++;
      }
      at = runEnd(bytes, view, at, length);
      if (at === length) break;
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#note(start, ++at);
        start = -1;
        continue;
      }
      const end = byte === BACKSLASH ? escapeEnd(bytes, at, length) : BROKEN;
      if (end === UNFINISHED) break;
      this.#over = end === BROKEN;
      if (this.#over) return;
      at = end;
    }
    this.#at = at;
    this.#start = start;
    const open = start < 0 ? 0 : at - start;
    if (at >= TRIAL && (this.#within + (open >= LONG ? open : 0)) * 2 < at) this.#over = true;
  }

  /** Where the string that begins at `start` ends, quote included; undefined when that is not known. */
  endOf(start: number): number | undefined {
    return this.#ends.get(start);
  }

  #note(start: number, end: number): void {
    if (end - start < LONG) return;
    this.#ends.set(start, end);
    this.#within += end - start;
  }
}

/** Notes what was found in just these bytes, for who scans them. */
export function noteLongStrings(bytes: Uint8Array, found: LongStrings): void {
  noted.set(bytes, found);
}

/** What was noted of these bytes, if anything. */
export const longStringsOf = (bytes: Uint8Array): LongStrings | undefined => noted.get(bytes);
