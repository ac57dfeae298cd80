import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { LineRing } from '../../lib/text/line-ring.ts';

export interface EngineLogLimits {
  /** Lines kept in memory. */
  readonly lines: number;
  /** Bytes of one file; beyond it the file becomes `NAME.log.1` and a new one begins. */
  readonly fileBytes: number;
  /** Bytes that may wait for the disk before lines are dropped. */
  readonly backlogBytes: number;
}

/** The file of a slot's engines, which outlives each of them; `folder` is that of the logs. */
export const engineLogFile = (folder: string, slot: string): string => join(folder, `${slot}.log`);

const LIMITS: EngineLogLimits = { lines: 400, fileBytes: 4 << 20, backlogBytes: 1 << 20 };

/**
 * The output of one slot's engine: the last lines in memory, the rest in `NAME.log` with one older file. Bounded in
 * memory and on disk whatever the engine prints; a disk that fails costs what was written meanwhile, never the slot.
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
      // The first line finds the same.
    }
    this.#written = this.#size();
  }

  /** Takes output as it comes. */
  push(chunk: Uint8Array): void {
    for (const line of this.#ring.push(chunk)) this.#write(line);
  }

  /** One line of the gateway's own, for the file only: it is no word of the engine. */
  note(line: string): void {
    this.#write(`${new Date().toISOString()} gateway: ${line}`);
  }

  lines(max?: number): readonly string[] {
    return this.#ring.lines(max);
  }

  /** Lets an open last line go and closes the file for good; resolves when it is on its way to the disk. */
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
    // What comes late is in memory only: nobody would close the file that it opens.
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

  /** A stream that has failed takes nothing any more: the next line tries another one. */
  #onStreamError(stream: WriteStream): void {
    if (this.#stream !== stream) return;
    this.#stream = null;
    this.#written = this.#size();
  }

  /** Bytes of the file as it lies there. */
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
      // Without the older file the log goes on in the same one.
    }
  }
}
