import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { LineSplitter } from '../../lib/text/line-splitter.ts';

/**
 * Interval between two reads of the file, in ms. A file system need not report changes, and engines write in
 * bursts.
 */
const POLL_MS = 200;
/** Bytes per read, and the maximum bytes of the history that are searched for the last lines. */
const CHUNK_BYTES = 64 * 1024;
const MAX_HISTORY_BYTES = 512 * 1024;
/** A reader that is further behind than this skips the middle. */
const MAX_LAG_BYTES = 1 << 20;

export interface TailOptions {
  /** Maximum number of existing lines to return. */
  readonly lines: number;
  /** False: only the existing lines. */
  readonly follow: boolean;
  /** Ends the tail. */
  readonly signal: AbortSignal;
  onLine(line: string): void;
}

/**
 * Emits the last lines of a log file and then new lines, across rotation and while the file is missing (like `tail
 * -F`). Replaces control characters and truncates long lines. Memory use is bounded: a reader that is far behind
 * gets one line with the number of skipped bytes. Resolves after the existing lines (without `follow`) or when the
 * signal aborts. Never rejects.
 */
export async function tailLog(path: string, options: TailOptions): Promise<void> {
  const tail = new Tail(path, options);
  const { follow, signal } = options;
  await tail.readHistory();
  while (follow && !signal.aborted) {
    await tail.readNew();
    await pause(POLL_MS, undefined, { signal }).catch(() => {});
  }
  await tail.close();
}

/** Reads one file. An unreadable file counts as missing until it can be read. */
class Tail {
  readonly #path: string;
  readonly #options: TailOptions;
  #splitter = new LineSplitter();
  #file: FileHandle | null = null;
  #inode = 0;
  #offset = 0;

  constructor(path: string, options: TailOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** Emits the last lines that the file holds now. */
  async readHistory(): Promise<void> {
    const { lines, onLine } = this.#options;
    const found: string[] = [];
    await this.#open();
    const size = await this.#size();
    this.#offset = Math.max(0, size - MAX_HISTORY_BYTES);
    let inside = this.#offset > 0;
    await this.#read(size, (chunk) => {
      const whole = inside ? chunk.subarray(chunk.indexOf(0x0a) + 1) : chunk;
      inside = false;
      this.#splitter.push(whole, (line) => found.push(line));
      if (found.length > lines) found.splice(0, found.length - lines);
    });
    for (const line of found) onLine(line);
  }

  /** Emits new lines. Continues with the new file once the old one was renamed or truncated. */
  async readNew(): Promise<void> {
    if (this.#file === null) await this.#open();
    await this.#readRest();
    const current = await stat(this.#path).catch(() => null);
    if (current === null || current.ino === this.#inode) return;
    await this.#readRest();
    await this.#open();
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => {});
    this.#file = null;
  }

  async #open(): Promise<void> {
    await this.close();
    try {
      this.#file = await open(this.#path, 'r');
      this.#inode = (await this.#file.stat()).ino;
    } catch {
      await this.close();
    }
    this.#offset = 0;
    this.#splitter = new LineSplitter();
  }

  async #size(): Promise<number> {
    return (await this.#file?.stat().catch(() => null))?.size ?? 0;
  }

  async #readRest(): Promise<void> {
    const size = await this.#size();
    if (size < this.#offset) this.#offset = 0;
    if (size - this.#offset > MAX_LAG_BYTES) this.#skipTo(size - CHUNK_BYTES);
    await this.#read(size, (chunk) => this.#splitter.push(chunk, this.#options.onLine));
  }

  #skipTo(to: number): void {
    this.#options.onLine(`(${to - this.#offset} bytes were passed over)`);
    this.#offset = to;
  }

  async #read(end: number, take: (chunk: Buffer) => void): Promise<void> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    while (this.#offset < end && !this.#options.signal.aborted) {
      const want = Math.min(CHUNK_BYTES, end - this.#offset);
      const read = await this.#file?.read(buffer, 0, want, this.#offset).catch(() => null);
      if (!read?.bytesRead) return;
      this.#offset += read.bytesRead;
      take(buffer.subarray(0, read.bytesRead));
    }
  }
}
