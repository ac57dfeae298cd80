import { FileWriteError, type ReplaceOptions, replaceFile } from '../lib/fs/atomic-file.ts';
import { readFileCapped, sameRead } from './read-file.ts';
import type { ChangeGuard } from './revision.ts';

export interface EditOptions extends Omit<ReplaceOptions, 'mode' | 'beforeRename'> {
  /** Maximum bytes to read. */
  maxBytes: number;
  newMode: number;
  /** Maximum mode bits of an existing file. */
  keepMode: number;
}

/**
 * Reads a file, passes its content to `edit` (null: there is no file yet) and replaces it atomically. If
 * another process changes the file in between, it retries once, then throws FileWriteError `changed`, so that
 * a manual edit is never lost. Unchanged content is not written.
 */
export async function editFile(
  path: string,
  edit: (bytes: Buffer | null) => Buffer,
  options: EditOptions,
): Promise<{ bytes: Buffer; durable: boolean }> {
  try {
    return await editOnce(path, edit, options);
  } catch (error) {
    if (!(error instanceof FileWriteError) || error.reason !== 'changed') throw error;
    return await editOnce(path, edit, options);
  }
}

/** Passes the content of a file that is about to be removed to `guard`. Unreadable content is passed as null. */
export async function guardFile(path: string, guard: ChangeGuard, maxBytes: number): Promise<void> {
  const read = await readFileCapped(path, maxBytes);
  guard(read.kind === 'bytes' ? read.bytes : null);
}

async function editOnce(path: string, edit: (bytes: Buffer | null) => Buffer, options: EditOptions) {
  const before = await readFileCapped(path, options.maxBytes);
  if (before.kind === 'unreadable') throw new FileWriteError(path, 'io', before.message);
  const old = before.kind === 'bytes' ? before.bytes : null;
  const bytes = edit(old);
  if (old?.equals(bytes)) return { bytes, durable: true };
  const { durable } = await replaceFile(path, bytes, {
    ...options,
    mode: old === null ? options.newMode : options.keepMode,
    beforeRename: async () => {
      if (sameRead(before, await readFileCapped(path, options.maxBytes))) return;
      throw new FileWriteError(path, 'changed', 'was changed by another program at the same time');
    },
  });
  return { bytes, durable };
}
