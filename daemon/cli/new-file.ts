import { type Stats, unlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { CliError, EXIT } from './exit-codes.ts';

/** The temporary and the final name of a file, and whether a file has the final name already. */
interface Names {
  readonly unfinished: string;
  readonly target: string;
  readonly replaces: boolean;
}

const notWritten = (path: string, { code }: NodeJS.ErrnoException) =>
  new CliError(`${path} cannot be written (${code})`);
const exists = (path: string) =>
  new CliError(`${path} already exists; pass --force to replace it`, EXIT.declined);

/** Errors of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** A link fails where another file got the name meanwhile; a rename would replace that file. */
async function nameFile({ unfinished, target, replaces }: Names): Promise<void> {
  const { link, rename, unlink } = await import('node:fs/promises');
  if (replaces) return rename(unfinished, target);
  try {
    await link(unfinished, target);
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return rename(unfinished, target);
  }
  await unlink(unfinished);
}

/** Signals that end a command. */
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/**
 * An output file of a command. A temporary file in its folder is created before the work begins, so that a
 * long command does not fail at its end, and gets the final name when it is complete. It is removed when the
 * command fails or is interrupted. An existing file is replaced only with `--force`.
 */
export class NewFile {
  readonly path: string;
  readonly #handle: FileHandle;
  /** Null when the file, a device or a pipe is written directly. */
  readonly #names: Names | null;
  readonly #onSignal: (signal: NodeJS.Signals) => void;
  #open = true;
  #isComplete = false;

  private constructor(path: string, handle: FileHandle, names: Names | null) {
    this.path = path;
    this.#handle = handle;
    this.#names = names;
    this.#onSignal = (signal) => {
      this.#removeUnfinished();
      this.#ignoreSignals();
      process.kill(process.pid, signal);
    };
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  #ignoreSignals(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  /** Throws CliError: `declined` when the file exists. */
  static async create(path: string, force: boolean): Promise<NewFile> {
    const { stat } = await import('node:fs/promises');
    const existing = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw notWritten(path, error);
    });
    if (existing !== null && !force) throw exists(path);
    const created =
      existing === null
        ? NewFile.#createTemp(path, { target: path, replaces: false, mode: 0o644 })
        : NewFile.#replacing(path, existing);
    return created.catch((error: NodeJS.ErrnoException) => {
      throw notWritten(path, error);
    });
  }

  /** Creates the temporary file of `target`, in its folder. */
  static async #createTemp(
    path: string,
    { mode, ...names }: Omit<Names, 'unfinished'> & { mode: number },
  ): Promise<NewFile> {
    const { open } = await import('node:fs/promises');
    const unfinished = `${names.target}.${process.pid}.part`;
    return new NewFile(path, await open(unfinished, 'wx', mode), { unfinished, ...names });
  }

  /** Writes next to the existing file, behind its symlinks. A device or a pipe is written directly. */
  static async #replacing(path: string, existing: Stats): Promise<NewFile> {
    const { open, realpath } = await import('node:fs/promises');
    const direct = async (flags: string) => new NewFile(path, await open(path, flags, 0o644), null);
    if (!existing.isFile()) return direct('w');
    const target = await realpath(path);
    // A file without write permission is not replaced.
    await (await open(target, 'r+')).close();
    // If the folder accepts no new file, the existing one is overwritten.
    const file = await NewFile.#createTemp(path, { target, replaces: true, mode: 0o600 }).catch(() => null);
    if (file === null) return direct('w');
    await file.#handle.chmod(existing.mode & 0o777);
    await file.#handle.chown(existing.uid, existing.gid).catch(() => {});
    return file;
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
    await this.#finish();
    return written;
  }

  async close(): Promise<void> {
    if (this.#open) await this.#handle.close();
    this.#open = false;
  }

  /** Gives the complete file its name. Throws CliError when another file got the name meanwhile. */
  async #finish(): Promise<void> {
    if (this.#names !== null) {
      await nameFile(this.#names).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? exists(this.path) : notWritten(this.path, error);
      });
    }
    this.#isComplete = true;
    this.#ignoreSignals();
  }

  #removeUnfinished(): void {
    if (this.#names === null || this.#isComplete) return;
    try {
      unlinkSync(this.#names.unfinished);
    } catch {
      // The file is already gone.
    }
  }

  /** Removes the temporary file unless the file is complete. */
  async undo(): Promise<void> {
    await this.close();
    this.#removeUnfinished();
    this.#ignoreSignals();
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
