import { FileWriteError, type ReplaceOptions, replaceFile } from '../lib/fs/atomic-file.ts';
import { readFileCapped, sameRead } from './read-file.ts';
import type { ChangeGuard } from './revision.ts';

export interface EditOptions extends Omit<ReplaceOptions, 'mode' | 'beforeRename'> {
  /** Most bytes that are read. */
  maxBytes: number;
  newMode: number;
  /** The most an existing file keeps of its mode. */
  keepMode: number;
}

/**
 * Reads a file, lets `edit` make its new content (null: there is no file yet) and swaps it in atomically. When
 * someone else changed the file in between, it starts anew once, then gives up with FileWriteError `changed`: an
 * edit by hand is never lost. Content that stays the same is not written.
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

/** Shows `guard` the content of a file that is about to be removed; what can't be read is shown as none. */
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
      throw new FileWriteError(path, 'changed', 'was changed by someone else at the same moment');
    },
  });
  return { bytes, durable };
}
