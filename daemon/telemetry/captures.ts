import type { RequestBodiesView } from '../contract/system.ts';

/** Maximum bytes per captured text. */
const MAX_BYTES = 16 * 1024;
/** Maximum number of captured requests; the latest ones are kept. */
const MAX_REQUESTS = 100;

/** Captures the beginning of a byte stream. */
class TextPrefix {
  readonly #parts: Buffer[] = [];
  #storedBytes = 0;
  #total = 0;

  /** Copies the captured bytes: a view would keep the whole underlying buffer alive. */
  push(bytes: Buffer): void {
    this.#total += bytes.length;
    if (this.#storedBytes >= MAX_BYTES || bytes.length === 0) return;
    const part = Buffer.from(bytes.subarray(0, MAX_BYTES - this.#storedBytes));
    this.#parts.push(part);
    this.#storedBytes += part.length;
  }

  /** Returns the text; null when no bytes arrived. For binary data, returns only the number of bytes. */
  text(): string | null {
    if (this.#total === 0) return null;
    const bytes = Buffer.concat(this.#parts);
    try {
      if (bytes.includes(0)) throw new TypeError('no text');
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
      return this.#total > this.#storedBytes ? `${text}… (${this.#total} bytes in total)` : text;
    } catch {
      return `(${this.#total} bytes that are no text)`;
    }
  }
}

/** Request and response of one call, as far as captured (setting `observability.capture_bodies`). */
export class Capture {
  readonly #request = new TextPrefix();
  readonly #response = new TextPrefix();

  constructor(body: Buffer) {
    this.#request.push(body);
  }

  pushResponse(bytes: Buffer): void {
    this.#response.push(bytes);
  }

  view(): RequestBodiesView {
    return { request: this.#request.text(), answer: this.#response.text() };
  }
}

/** The bodies of the latest requests, in memory only: nothing reaches a disk, a log or a backup. */
export class Captures {
  readonly #captures = new Map<string, Capture>();

  add(id: string, capture: Capture): void {
    this.#captures.set(id, capture);
    const [oldest] = this.#captures.keys();
    if (oldest !== undefined && this.#captures.size > MAX_REQUESTS) this.#captures.delete(oldest);
  }

  find(id: string): RequestBodiesView | null {
    return this.#captures.get(id)?.view() ?? null;
  }
}
