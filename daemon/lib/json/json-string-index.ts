import { BACKSLASH, escapeEnd, INCOMPLETE_ESCAPE, INVALID_ESCAPE, QUOTE, runEnd } from './json-string.ts';

/** Minimum length of an indexed string, quotes included. Keeps the index small for any body. */
const MIN_INDEXED_BYTES = 4 * 1024;
/** Indexing stops when the bytes outside of long strings exceed those inside by more than this. */
const MAX_OTHER_BYTES = 32 * 1024;

const indexes = new WeakMap<Uint8Array, JsonStringIndex>();

/**
 * Index of the long strings of a JSON text that is still being received. Scanning megabytes at once after the
 * last byte blocks all other streams. Scanning during the receipt uses bytes that are still in the CPU cache
 * and lets other work run in between. The index is only a hint: the reader scans all strings that it does not
 * contain.
 */
export class JsonStringIndex {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #at = 0;
  /** Start of the string that is open at `#at`, or -1 outside of a string. */
  #start = -1;
  /** Total bytes of indexed strings. */
  #indexedBytes = 0;
  #stopped = false;

  /**
   * Continues the scan up to `length`. The bytes before that must be unchanged, but may have moved to another
   * buffer.
   */
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

  /** Number of indexed strings. */
  get length(): number {
    return this.#starts.length;
  }

  /** Returns the start of string `index`, in text order, or `Infinity` beyond the last one. */
  start(index: number): number {
    return this.#starts[index] ?? Infinity;
  }

  /** Returns the end of string `index`, quote included. */
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

/** Stores the index of exactly these bytes for the scanner. */
export function storeStringIndex(bytes: Uint8Array, index: JsonStringIndex): void {
  if (index.length > 0) indexes.set(bytes, index);
}

/** Returns the stored index of these bytes, if any. */
export const stringIndexOf = (bytes: Uint8Array): JsonStringIndex | undefined => indexes.get(bytes);
