import { readFileSync, rmSync } from 'node:fs';
import { FileWriteError, replaceFile } from '../lib/fs/atomic-file.ts';
import { addressFile, addressText, type ListenAddress } from './running-address.ts';

function isOwn(path: string, text: string): boolean {
  try {
    return readFileSync(path, 'utf8') === text;
  } catch {
    return false;
  }
}

/**
 * Writes the address that this process listens on into the state folder, for commands that do not know the
 * environment of the gateway. Returns a function that removes the file. Calls `failed` with the reason when
 * the file cannot be written; the gateway also serves without it.
 */
export async function publishAddress(
  folder: string,
  address: ListenAddress,
  failed: (reason: string) => void,
): Promise<() => void> {
  const path = addressFile(folder);
  const text = addressText(address);
  try {
    await replaceFile(path, Buffer.from(text), { mode: 0o600 });
  } catch (error) {
    if (!(error instanceof FileWriteError)) throw error;
    failed(error.message);
  }
  return () => {
    if (isOwn(path, text)) rmSync(path, { force: true });
  };
}
