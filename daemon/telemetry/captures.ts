import type { RequestBodiesView } from '../contract/system.ts';

/** Bytes of one text that are kept. */
const MAX_BYTES = 16 * 1024;
/** Requests whose texts are kept, the latest ones. */
const MAX_REQUESTS = 100;

/** The beginning of bytes that pass by. */
class TextPrefix {
  readonly #parts: Buffer[] = [];
  #storedBytes = 0;
  #total = 0;

  /** Copies what is kept: a part of a larger buffer would hold all of that. */
  push(bytes: Buffer): void {
    this.#total += bytes.length;
    if (this.#storedBytes >= MAX_BYTES || bytes.length === 0) return;
    const part = Buffer.from(bytes.subarray(0, MAX_BYTES - this.#storedBytes));
    this.#parts.push(part);
    this.#storedBytes += part.length;
  }

  /** As text; null when nothing came, and only their number for bytes that are none. */
  text(): string | null {
    if (this.#total === 0) return null;
    const bytes = Buffer.concat(this.#parts);
    try {
      if (bytes.includes(0)) throw new TypeError('no text');
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
      return this.#total > this.#storedBytes ? `${text}… (${this.#total} bytes in all)` : text;
    } catch {
      return `(${this.#total} bytes that are no text)`;
    }
  }
}

/** What one request asked and was answered, as far as it is kept (setting `observability.capture_bodies`). */
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

/** The texts of the latest requests, in memory only: nothing of them reaches a disk, a log or a backup. */
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
