import type { FileHandle } from 'node:fs/promises';
import { CliError, EXIT } from './exit-codes.ts';

/** The temporary and the final name of a file. */
interface Target {
  /** The temporary file that `undo` removes; null when there is none. */
  readonly unfinished: string | null;
  /** The file that is replaced once the new one is complete; null when the final name is written directly. */
  readonly replaces: string | null;
}

const notWritten = (path: string, { code }: NodeJS.ErrnoException) =>
  new CliError(`${path} cannot be written (${code})`);

/**
 * An output file of a command. It is created before the work begins, so that a long command does not fail at
 * an existing file at its end. An existing file is replaced only with `--force`, and only by a complete new
 * one.
 */
export class NewFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #target: Target;
  #open = true;
  #whole = false;

  private constructor(path: string, handle: FileHandle, target: Target) {
    this.path = path;
    this.#handle = handle;
    this.#target = target;
  }

  /** Throws CliError: `declined` when the file exists. */
  static async create(path: string, force: boolean): Promise<NewFile> {
    const { open } = await import('node:fs/promises');
    try {
      return new NewFile(path, await open(path, 'wx', 0o644), { unfinished: path, replaces: null });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw notWritten(path, error as NodeJS.ErrnoException);
      if (!force) throw new CliError(`${path} already exists; pass --force to replace it`, EXIT.declined);
    }
    return NewFile.#replacing(path).catch((error: NodeJS.ErrnoException) => {
      throw notWritten(path, error);
    });
  }

  /** Writes next to the existing file, behind its symlinks. A device or a pipe is written directly. */
  static async #replacing(path: string): Promise<NewFile> {
    const { open, realpath, stat } = await import('node:fs/promises');
    const facts = await stat(path).catch(() => null);
    if (!facts?.isFile()) {
      return new NewFile(path, await open(path, 'w', 0o644), { unfinished: null, replaces: null });
    }
    const replaces = await realpath(path);
    // A file without write permission is not replaced.
    await (await open(replaces, 'r+')).close();
    const unfinished = `${replaces}.${process.pid}.part`;
    const handle = await open(unfinished, 'wx', 0o600).catch(() => null);
    // If the folder accepts no new file, the existing one is overwritten.
    if (handle === null)
      return new NewFile(path, await open(path, 'w'), { unfinished: null, replaces: null });
    await handle.chmod(facts.mode & 0o777);
    await handle.chown(facts.uid, facts.gid).catch(() => {});
    return new NewFile(path, handle, { unfinished, replaces });
  }

  /**
   * Creates the named file, if any, before `work` begins. Removes it when `work` fails. Closes it in any
   * case.
   */
  static async use<T>(
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

  /**
   * Writes a response while it is received, closes the file, and returns the number of bytes. Throws CliError
   * beyond `maxBytes`.
   */
  async fill(chunks: AsyncIterable<Buffer | string>, maxBytes: number): Promise<number> {
    let written = 0;
    for await (const chunk of bytesOf(chunks)) {
      written += chunk.length;
      if (written > maxBytes) throw new CliError('the response is too large');
      await this.#handle.write(chunk);
    }
    await this.close();
    await this.#settle();
    return written;
  }

  async close(): Promise<void> {
    if (this.#open) await this.#handle.close();
    this.#open = false;
  }

  async #settle(): Promise<void> {
    const { unfinished, replaces } = this.#target;
    if (unfinished !== null && replaces !== null) {
      const { rename } = await import('node:fs/promises');
      await rename(unfinished, replaces).catch((error: NodeJS.ErrnoException) => {
        throw notWritten(this.path, error);
      });
    }
    this.#whole = true;
  }

  /** Removes the created file unless it is complete. */
  async undo(): Promise<void> {
    await this.close();
    const { unfinished } = this.#target;
    if (unfinished === null || this.#whole) return;
    await (await import('node:fs/promises')).unlink(unfinished).catch(() => {});
  }
}

/** The chunks of a response. Throws CliError when the connection closes early. */
export async function* bytesOf(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch {
    throw new CliError('the connection closed before the response ended', EXIT.unreachable);
  }
}
