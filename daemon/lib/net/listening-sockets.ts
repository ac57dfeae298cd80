import { closeSync, openSync, readSync } from 'node:fs';

/** Bytes per read. The kernel returns a page of full lines at a time. */
const READ_BYTES = 1 << 16;
/** State of a listening socket in `/proc/net/tcp`. */
const LISTENING = '0A';

/**
 * Returns the fields of each listening socket: 1 is its address and port, 7 its user, 9 its inode. Lines
 * without `mark` are skipped before they are split.
 */
export const listeningSockets = (table: string, mark = ''): string[][] =>
  table
    .split('\n')
    .filter((line) => line.includes(mark))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === LISTENING);

/** Returns whether the last complete line is a socket that is not listening. */
function isPastListening(text: string): boolean {
  const end = text.lastIndexOf('\n');
  const last = text.slice(text.lastIndexOf('\n', end - 1) + 1, end).trim();
  return /^\d/.test(last) && last.split(/\s+/)[3] !== LISTENING;
}

/**
 * Reads `/proc/net/tcp` or `tcp6` up to the end of the listening sockets. Returns null where the kernel does
 * not provide it. The kernel lists listening sockets before all others (net/ipv4/tcp_ipv4.c). A busy machine
 * has tens of thousands of others, and reading them takes 50 ms.
 */
export function readListening(file: string): string | null {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return null;
  }
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let text = '';
  try {
    while (!isPastListening(text)) {
      const bytes = readSync(fd, buffer);
      if (bytes === 0) break;
      text += buffer.toString('latin1', 0, bytes);
    }
    return text;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}
