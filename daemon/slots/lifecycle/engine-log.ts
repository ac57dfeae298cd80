import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { LineRing } from '../../lib/text/line-ring.ts';

export interface EngineLogLimits {
  /** Lines that are held in memory. */
  readonly lines: number;
  /** Maximum bytes of one file. A larger file is renamed to `NAME.log.1` and a new one begins. */
  readonly fileBytes: number;
  /** Maximum bytes that wait for the disk; beyond it lines are dropped. */
  readonly backlogBytes: number;
}

/** Returns the log file of a slot, which is used by all its engines. `folder` is the log folder. */
export const engineLogFile = (folder: string, slot: string): string => join(folder, `${slot}.log`);

const LIMITS: EngineLogLimits = { lines: 400, fileBytes: 4 << 20, backlogBytes: 1 << 20 };

/**
 * The output of one slot's engine: the last lines in memory, the rest in `NAME.log` and one older file. Memory and
 * disk use are bounded whatever the engine prints. When the disk fails, output is lost but the slot keeps working.
 */
export class EngineLog {
  readonly #limits: EngineLogLimits;
  readonly #file: string;
  readonly #ring: LineRing;
  #stream: WriteStream | null = null;
  #written = 0;
  #dropped = 0;
  #closed = false;

  constructor(folder: string, slot: string, limits: EngineLogLimits = LIMITS) {
    this.#limits = limits;
    this.#file = engineLogFile(folder, slot);
    this.#ring = new LineRing(limits.lines);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch {
      // The first write reports the same error.
    }
    this.#written = this.#size();
  }

  /** Appends output. */
  push(chunk: Uint8Array): void {
    for (const line of this.#ring.push(chunk)) this.#write(line);
  }

  /** Writes a line of the gateway to the file only, because it is not output of the engine. */
  note(line: string): void {
    this.#write(`${new Date().toISOString()} gateway: ${line}`);
  }

  lines(max?: number): readonly string[] {
    return this.#ring.lines(max);
  }

  /** Returns the lines in memory that were written at or after a time in Unix milliseconds. */
  linesSince(time: number): readonly string[] {
    return this.#ring.linesSince(time);
  }

  /** Writes an incomplete last line and closes the file for good. Resolves when the data was passed to the disk. */
  async close(): Promise<void> {
    const rest = this.#ring.end();
    if (rest !== null) this.#write(rest);
    this.#closed = true;
    const stream = this.#stream;
    this.#stream = null;
    if (stream === null) return;
    await new Promise<void>((done) => {
      stream.once('error', () => done());
      stream.end(done);
    });
  }

  #write(line: string): void {
    // Output after `close` stays in memory only, because a newly opened file would never be closed.
    if (this.#closed) return;
    const stream = this.#open();
    if (stream.writableLength > this.#limits.backlogBytes) {
      this.#dropped += 1;
      return;
    }
    const droppedNote = this.#dropped === 0 ? '' : `(${this.#dropped} lines were dropped)\n`;
    this.#dropped = 0;
    const text = `${droppedNote}${line}\n`;
    this.#written += Buffer.byteLength(text);
    stream.write(text);
  }

  #open(): WriteStream {
    if (this.#stream !== null && this.#written <= this.#limits.fileBytes) return this.#stream;
    this.#stream?.end();
    if (this.#written > this.#limits.fileBytes) this.#rotate();
    const stream = createWriteStream(this.#file, { flags: 'a', mode: 0o600 });
    stream.on('error', () => this.#onStreamError(stream));
    this.#stream = stream;
    return stream;
  }

  /** Drops a failed stream, so that the next line opens a new one. */
  #onStreamError(stream: WriteStream): void {
    if (this.#stream !== stream) return;
    this.#stream = null;
    this.#written = this.#size();
  }

  /** Returns the current size of the file in bytes. */
  #size(): number {
    try {
      return statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    } catch {
      return 0;
    }
  }

  #rotate(): void {
    this.#written = 0;
    try {
      renameSync(this.#file, `${this.#file}.1`);
    } catch {
      // Without the older file, the log continues in the same one.
    }
  }
}
