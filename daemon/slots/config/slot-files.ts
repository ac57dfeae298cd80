import { join } from 'node:path';
import { MAX_WORKFLOW_BYTES } from '../../contract/workflow.ts';
import { deleteFile, ensureFolder, FileWriteError } from '../../lib/fs/atomic-file.ts';
import { editFile, guardFile } from '../../settings/edit-file.ts';
import { unguarded } from '../../settings/revision.ts';

/**
 * A slot file may contain secrets in variables: new files are readable for the owner only, existing ones keep their
 * mode.
 */
const RULES = { maxBytes: 64 * 1024, newMode: 0o600, keepMode: 0o666 };
const WORKFLOW_RULES = { ...RULES, maxBytes: MAX_WORKFLOW_BYTES };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Changes the files of the folder `slots/` one at a time, each completely or not at all. */
export class SlotFiles {
  readonly #folder: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Replaces the file of a slot by the result of `edit`, which gets the current text (null: no file). Errors of
   * `guard` and `edit` are passed on and change nothing. Rejects with FileWriteError.
   */
  async write(name: string, edit: (text: string | null) => string, guard = unguarded): Promise<void> {
    await this.#serialize(async () => {
      const path = this.#pathOf(name);
      await ensureFolder(this.#folder);
      await editFile(
        path,
        (bytes) => {
          guard(bytes);
          return Buffer.from(edit(textOf(path, bytes)));
        },
        RULES,
      );
    });
  }

  /** Passes the text of a slot file to `check` (null: no file), whose errors are passed on. */
  inspect(name: string, check: (text: string | null) => unknown): Promise<void> {
    const path = this.#pathOf(name);
    return this.#serialize(() =>
      guardFile(path, (bytes) => void check(textOf(path, bytes && Buffer.from(bytes))), RULES.maxBytes),
    );
  }

  /**
   * Writes a workflow beside the slot files. Returns false, and writes nothing, when another content has this name and
   * `replace` is not set. Rejects with FileWriteError.
   */
  writeWorkflow(file: string, bytes: Buffer, replace: boolean): Promise<boolean> {
    return this.#serialize(async () => {
      await ensureFolder(this.#folder);
      const path = join(this.#folder, file);
      let isOther = false;
      const edit = (before: Buffer | null) => {
        isOther = before !== null && !replace && !before.equals(bytes);
        return isOther ? (before as Buffer) : bytes;
      };
      await editFile(path, edit, WORKFLOW_RULES);
      return !isOther;
    });
  }

  /**
   * Deletes the file of a slot if `guard` allows it. Returns whether there was one. Rejects with FileWriteError.
   */
  remove(name: string, guard = unguarded): Promise<boolean> {
    return this.#serialize(async () => {
      const path = this.#pathOf(name);
      await guardFile(path, guard, RULES.maxBytes);
      return deleteFile(path);
    });
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${name}.toml`);
  }

  #serialize<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

function textOf(path: string, bytes: Buffer | null): string | null {
  try {
    return bytes && utf8.decode(bytes);
  } catch (cause) {
    throw new FileWriteError(path, 'io', 'is not UTF-8 text', cause);
  }
}
