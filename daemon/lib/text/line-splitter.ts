import { ELLIPSIS } from './truncate.ts';

/** Maximum length of a line in UTF-16 units. The rest is dropped up to the line end. */
export const MAX_LINE_LENGTH = 2_000;

/**
 * Splits a byte stream into lines. Replaces control characters except tab, so that a line can be shown
 * anywhere. Truncates a long line and marks it with an ellipsis. Buffers one unfinished line.
 */
export class LineSplitter {
  readonly #maxLineLength: number;
  readonly #decoder = new TextDecoder('utf-8');
  #open = '';
  #truncated = false;

  constructor(maxLineLength = MAX_LINE_LENGTH) {
    this.#maxLineLength = maxLineLength;
  }

  /** Adds bytes and calls `onLine` for each line that they complete. */
  push(chunk: Uint8Array, onLine: (line: string) => void): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      onLine(this.#take(text, from, end));
      from = end + 1;
    }
    this.#append(text, from, text.length);
  }

  /** Completes an unfinished last line and returns it, or null when there is none. */
  end(): string | null {
    return this.#open === '' ? null : this.#take('', 0, 0);
  }

  #append(text: string, from: number, end: number): void {
    const remaining = this.#maxLineLength - this.#open.length;
    if (end - from > remaining) this.#truncated = true;
    if (remaining > 0) this.#open += text.slice(from, Math.min(end, from + remaining));
  }

  #take(text: string, from: number, end: number): string {
    this.#append(text, from, end);
    const line = this.#open.replace(/\r$/, '').replace(/[\0-\x08\x0b-\x1f\x7f]/g, '\ufffd');
    const truncated = this.#truncated;
    this.#open = '';
    this.#truncated = false;
    return truncated ? line + ELLIPSIS : line;
  }
}
