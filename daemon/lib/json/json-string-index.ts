import { BACKSLASH, BROKEN, escapeEnd, QUOTE, runEnd, UNFINISHED } from './json-string.ts';

/** Bytes of a string that is worth a note, quotes included; so there are few, whatever the body. */
const LONG = 4 * 1024;
/** So many bytes more may lie outside of long strings than inside; then the rest is left to who reads them. */
const TRIAL = 32 * 1024;

const noted = new WeakMap<Uint8Array, LongStrings>();

/**
 * The long strings of a JSON text that is still coming, found and checked in what has come. Walking megabytes of text at once,
 * when the last byte is there, holds up every other stream for as long as it takes; walked as they come, bytes are warm and
 * others have their turns in between. Nothing is decided here: what is not found, whoever reads the text walks himself.
 */
export class LongStrings {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
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
    const within = this.#within + (open >= LONG ? open : 0);
    if (at - within > within + TRIAL) this.#over = true;
  }

  /** How many are known. */
  get length(): number {
    return this.#starts.length;
  }

  /** Where the string `index`, in the order of the text, begins; beyond all of them `Infinity`. */
  start(index: number): number {
    return this.#starts[index] ?? Infinity;
  }

  /** Where that string ends, quote included. */
  end(index: number): number {
    return this.#ends[index] as number;
  }

  #note(start: number, end: number): void {
    if (end - start < LONG) return;
    this.#starts.push(start);
    this.#ends.push(end);
    this.#within += end - start;
  }
}

/** Notes what was found in just these bytes, for who scans them. */
export function noteLongStrings(bytes: Uint8Array, found: LongStrings): void {
  if (found.length > 0) noted.set(bytes, found);
}

/** What was noted of these bytes, if anything. */
export const longStringsOf = (bytes: Uint8Array): LongStrings | undefined => noted.get(bytes);
