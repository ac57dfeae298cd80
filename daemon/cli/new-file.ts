import type { FileHandle } from 'node:fs/promises';
import { CliError, EXIT } from './exit-codes.ts';

/**
 * A file that a command writes. It is made before the work begins, so that minutes of it do not end at a name that is
 * taken; one that was there already is written over only when that was asked for.
 */
export class NewFile {
  readonly path: string;
  readonly #handle: FileHandle;
  /** Whether it is ours to remove again. */
  readonly #made: boolean;
  #open = true;

  private constructor(path: string, handle: FileHandle, made: boolean) {
    this.path = path;
    this.#handle = handle;
    this.#made = made;
  }

  /** Throws CliError: `declined` for a name that is taken. */
  static async create(path: string, force: boolean): Promise<NewFile> {
    const { open } = await import('node:fs/promises');
    try {
      return new NewFile(path, await open(path, 'wx', 0o644), true);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new CliError(`${path} cannot be written (${code})`);
      if (!force) throw new CliError(`${path} is there already; use --force`, EXIT.declined);
    }
    const handle = await open(path, 'w', 0o644).catch((error: NodeJS.ErrnoException) => {
      throw new CliError(`${path} cannot be written (${error.code})`);
    });
    return new NewFile(path, handle, false);
  }

  /** Makes the file that was named, if one was, before `work` begins; takes it back when that fails, and closes it. */
  static async during<T>(
    path: string | undefined,
    force: boolean,
    work: (file: NewFile | null) => Promise<T>,
  ): Promise<T> {
    const file = path === undefined ? null : await NewFile.create(path, force);
    try {
      return await work(file);
    } catch (error) {
      await file?.undo();
      throw error;
    } finally {
      await file?.close();
    }
  }

  /** Writes an answer as it comes, closes, and answers how many bytes it were. Throws CliError beyond `most`. */
  async fill(chunks: AsyncIterable<Buffer | string>, most: number): Promise<number> {
    let written = 0;
    for await (const chunk of bytesOf(chunks)) {
      written += chunk.length;
      if (written > most) throw new CliError('the answer is too large');
      await this.#handle.write(chunk);
    }
    await this.close();
    return written;
  }

  async close(): Promise<void> {
    if (this.#open) await this.#handle.close();
    this.#open = false;
  }

  /** Takes back a file that was made here. */
  async undo(): Promise<void> {
    await this.close();
    if (this.#made) await (await import('node:fs/promises')).unlink(this.path).catch(() => {});
  }
}

/** The chunks of an answer. Throws CliError when it breaks off. */
export async function* bytesOf(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch {
    throw new CliError('the answer broke off before its end', EXIT.unreachable);
  }
}
