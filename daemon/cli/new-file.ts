import type { FileHandle } from 'node:fs/promises';
import { CliError, EXIT } from './exit-codes.ts';

/** What a file is besides its name and its open handle. */
interface Target {
  /** What lies on the disk until the file is whole, ours to remove again; null when nothing does. */
  readonly unfinished: string | null;
  /** The file that it takes the place of once it is whole; null when it is in its place. */
  readonly replaces: string | null;
}

const notWritten = (path: string, { code }: NodeJS.ErrnoException) =>
  new CliError(`${path} cannot be written (${code})`);

/**
 * A file that a command writes. It is made before the work begins, so that minutes of it do not end at a name that is
 * taken; one that was there already is replaced only when that was asked for, and not before the new one is whole.
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

  /** Throws CliError: `declined` for a name that is taken. */
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

  /** Beside the file that is there, behind its links; a device or a pipe is written into as it is. */
  static async #replacing(path: string): Promise<NewFile> {
    const { open, realpath, stat } = await import('node:fs/promises');
    const facts = await stat(path).catch(() => null);
    if (!facts?.isFile()) {
      return new NewFile(path, await open(path, 'w', 0o644), { unfinished: null, replaces: null });
    }
    const replaces = await realpath(path);
    // What may not be written is not replaced.
    await (await open(replaces, 'r+')).close();
    const unfinished = `${replaces}.${process.pid}.part`;
    const handle = await open(unfinished, 'wx', 0o600).catch(() => null);
    // A folder that takes no new file still has this one.
    if (handle === null)
      return new NewFile(path, await open(path, 'w'), { unfinished: null, replaces: null });
    await handle.chmod(facts.mode & 0o777);
    await handle.chown(facts.uid, facts.gid).catch(() => {});
    return new NewFile(path, handle, { unfinished, replaces });
  }

  /** Makes the file that was named, if one was, before `work` begins; takes it back when that fails, and closes it. */
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

  /** Writes an answer as it comes, closes, and answers how many bytes it were. Throws CliError beyond `most`. */
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

  /** Takes back what was made here, unless it is whole and in its place. */
  async undo(): Promise<void> {
    await this.close();
    const { unfinished } = this.#target;
    if (unfinished === null || this.#whole) return;
    await (await import('node:fs/promises')).unlink(unfinished).catch(() => {});
  }
}

/** The chunks of an answer. Throws CliError when it breaks off. */
export async function* bytesOf(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch {
    throw new CliError('the connection closed before the response ended', EXIT.unreachable);
  }
}
