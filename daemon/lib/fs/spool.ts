import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** Bytes of one step of reading: each takes its way over a thread. */
const READ_CHUNK_BYTES = 256 * 1024;

/** What of some pieces is left behind the first `bytes` bytes. */
function dropBytes(chunks: readonly Buffer[], bytes: number): readonly Buffer[] {
  let remaining = bytes;
  return chunks.flatMap((chunk) => {
    const dropped = Math.min(remaining, chunk.length);
    remaining -= dropped;
    return dropped === chunk.length ? [] : [chunk.subarray(dropped)];
  });
}

/**
 * A file without a name: it takes what does not belong into memory, can be read as often as needed, and is gone when it is
 * closed or its process ends, however it ends.
 */
export class Spool {
  readonly #handle: FileHandle;
  readonly #streams = new Set<Readable>();
  #length = 0;
  #closed = false;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Makes one in `folder`, readable by nobody else. Rejects when the folder cannot be written. */
  static async open(folder: string): Promise<Spool> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, randomBytes(12).toString('hex'));
    const handle = await open(path, 'wx+', 0o600);
    const spool = new Spool(handle);
    try {
      await unlink(path);
    } catch (error) {
      await spool.close();
      throw error;
    }
    return spool;
  }

  get length(): number {
    return this.#length;
  }

  /** For a program that reads it. */
  get descriptor(): number {
    return this.#handle.fd;
  }

  /** Adds these bytes, all of them or an error. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    for (let left = chunks; left.length > 0; ) {
      const { bytesWritten } = await this.#handle.writev(left as Buffer[], this.#length);
      this.#length += bytesWritten;
      left = dropBytes(left, bytesWritten);
    }
  }

  /** At most `length` bytes from `at`. */
  async read(at: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  }

  /**
   * All bytes from the start. Leaving early does no harm, and closing the file ends the stream. A stream of Node's own would close
   * the file with itself.
   */
  stream(): Readable {
    let at = 0;
    const stream = new Readable({
      highWaterMark: READ_CHUNK_BYTES,
      read: () => {
        this.read(at, READ_CHUNK_BYTES).then(
          (bytes) => {
            at += bytes.length;
            stream.push(bytes.length === 0 ? null : bytes);
          },
          (error: Error) => stream.destroy(error),
        );
      },
    });
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    return stream;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of this.#streams) stream.destroy();
    await this.#handle.close().catch(() => {});
  }
}

/** Removes what a process that ended between two steps may have left. Never rejects. */
export async function sweepSpools(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(
    names
      .filter((name) => /^[0-9a-f]{24}$/.test(name))
      .map((name) => rm(join(folder, name), { force: true })),
  );
}
