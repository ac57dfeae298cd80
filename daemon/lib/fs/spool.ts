import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** Bytes per read. Every read is a round trip to a thread. */
const READ_CHUNK_BYTES = 256 * 1024;

/** Returns `chunks` without their first `bytes` bytes. */
function dropBytes(chunks: readonly Buffer[], bytes: number): readonly Buffer[] {
  let remaining = bytes;
  return chunks.flatMap((chunk) => {
    const dropped = Math.min(remaining, chunk.length);
    remaining -= dropped;
    return dropped === chunk.length ? [] : [chunk.subarray(dropped)];
  });
}

/**
 * An unlinked temporary file for data that is too large for memory. It can be read any number of times, and
 * the kernel removes it when it is closed or the process ends in any way.
 */
export class Spool {
  readonly #handle: FileHandle;
  readonly #streams = new Set<Readable>();
  #length = 0;
  #closed = false;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Creates a spool in `folder` that only this user can read. Rejects when the folder is not writable. */
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

  /** The file descriptor, for a child process that reads the file. */
  get descriptor(): number {
    return this.#handle.fd;
  }

  /** Appends all bytes or throws. */
  async write(chunks: readonly Buffer[]): Promise<void> {
    for (let left = chunks; left.length > 0; ) {
      const { bytesWritten } = await this.#handle.writev(left as Buffer[], this.#length);
      this.#length += bytesWritten;
      left = dropBytes(left, bytesWritten);
    }
  }

  /** Reads at most `length` bytes from offset `at`. */
  async read(at: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  }

  /**
   * Returns a stream of all bytes from the start. It may be destroyed early. Closing the spool destroys it. A
   * stream created by Node would close the file when it ends.
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

/** Removes files that a process left when it ended between create and unlink. Never rejects. */
export async function sweepSpools(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(
    names
      .filter((name) => /^[0-9a-f]{24}$/.test(name))
      .map((name) => rm(join(folder, name), { force: true })),
  );
}
