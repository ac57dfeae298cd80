import { BACKSLASH, escapeEnd, INCOMPLETE_ESCAPE, INVALID_ESCAPE, QUOTE, runEnd } from './json-string.ts';

/** Bytes of a string that is worth a note, quotes included; so there are few, whatever the body. */
const MIN_INDEXED_BYTES = 4 * 1024;
/** So many bytes more may lie outside of long strings than inside; then the rest is left to who reads them. */
const MAX_OTHER_BYTES = 32 * 1024;

const indexes = new WeakMap<Uint8Array, JsonStringIndex>();

/**
 * The long strings of a JSON text that is still coming, found and checked in what has come. Walking megabytes of text at once,
 * when the last byte is there, holds up every other stream for as long as it takes; walked as they come, bytes are warm and
 * others have their turns in between. Nothing is decided here: what is not found, whoever reads the text walks himself.
 */
export class JsonStringIndex {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #at = 0;
  /** Where the string began that is open at `#at`; -1 outside of one. */
  #start = -1;
  /** Bytes that lay in long strings. */
  #indexedBytes = 0;
  #stopped = false;

  /** Goes on until `length`. The bytes before stay what they were, wherever they lie now. */
  advance(bytes: Uint8Array, length: number): void {
    if (this.#stopped) return;
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
        this.#add(start, ++at);
        start = -1;
        continue;
      }
      const end = byte === BACKSLASH ? escapeEnd(bytes, at, length) : INVALID_ESCAPE;
      if (end === INCOMPLETE_ESCAPE) break;
      this.#stopped = end === INVALID_ESCAPE;
      if (this.#stopped) return;
      at = end;
    }
    this.#at = at;
    this.#start = start;
    const open = start < 0 ? 0 : at - start;
    const indexedBytes = this.#indexedBytes + (open >= MIN_INDEXED_BYTES ? open : 0);
    if (at - indexedBytes > indexedBytes + MAX_OTHER_BYTES) this.#stopped = true;
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

  #add(start: number, end: number): void {
    if (end - start < MIN_INDEXED_BYTES) return;
    this.#starts.push(start);
    this.#ends.push(end);
    this.#indexedBytes += end - start;
  }
}

/** Notes what was found in just these bytes, for who scans them. */
export function storeStringIndex(bytes: Uint8Array, index: JsonStringIndex): void {
  if (index.length > 0) indexes.set(bytes, index);
}

/** What was noted of these bytes, if anything. */
export const stringIndexOf = (bytes: Uint8Array): JsonStringIndex | undefined => indexes.get(bytes);
