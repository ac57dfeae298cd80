import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';

/** The result of reading one configuration file. */
export type FileRead =
  | { kind: 'bytes'; bytes: Buffer; mode: number; uid: number }
  | { kind: 'missing' }
  /** `denied`: this user may not read it, but another one might. */
  | { kind: 'unreadable'; message: string; denied?: true };

const DENIED: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/**
 * Reads a regular file of at most `maxBytes` bytes. Never throws and never blocks on a pipe. A dangling link
 * is unreadable, not missing: the file is stored elsewhere and that location is not available (a disk that is
 * not mounted).
 */
export async function readFileCapped(path: string, maxBytes: number): Promise<FileRead> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'unreadable', message: 'is not a regular file' };
      if (stats.size > maxBytes) return { kind: 'unreadable', message: `is larger than ${maxBytes} bytes` };
      const bytes = await handle.readFile();
      if (bytes.length > maxBytes) return { kind: 'unreadable', message: `is larger than ${maxBytes} bytes` };
      return { kind: 'bytes', bytes, mode: stats.mode & 0o777, uid: stats.uid };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT') return await absentResult(path);
    const message = `cannot be read (${code})`;
    return { kind: 'unreadable', message, ...(DENIED.has(code) ? { denied: true } : {}) };
  }
}

async function absentResult(path: string): Promise<FileRead> {
  const named = await lstat(path).catch(() => null);
  if (!named?.isSymbolicLink()) return { kind: 'missing' };
  return { kind: 'unreadable', message: 'is a link to a file that does not exist' };
}

/** Returns whether two readings have the same content. */
export function sameRead(a: FileRead, b: FileRead): boolean {
  if (a.kind === 'bytes' && b.kind === 'bytes') return a.bytes.equals(b.bytes) && a.mode === b.mode;
  if (a.kind === 'unreadable' && b.kind === 'unreadable') return a.message === b.message;
  return a.kind === b.kind;
}
