import { closeSync, openSync, readSync } from 'node:fs';

/** What one read asks for; the kernel answers a page of whole lines at a time. */
const READ_BYTES = 1 << 16;
/** State of a socket that listens, as `/proc/net/tcp` writes it. */
const LISTENING = '0A';

/**
 * The fields of each line of a socket that listens: 1 is its address and port, 7 its user, 9 its inode. Lines without `mark` are
 * passed over before they are taken apart.
 */
export const listeningSockets = (table: string, mark = ''): string[][] =>
  table
    .split('\n')
    .filter((line) => line.includes(mark))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === LISTENING);

/** Whether the last whole line of the text is one of a socket that does not listen. */
function isPastListening(text: string): boolean {
  const end = text.lastIndexOf('\n');
  const last = text.slice(text.lastIndexOf('\n', end - 1) + 1, end).trim();
  return /^\d/.test(last) && last.split(/\s+/)[3] !== LISTENING;
}

/**
 * The text of `/proc/net/tcp` or `tcp6` as far as sockets that listen may stand in it; null where the kernel does not tell. The
 * kernel writes those before all others (net/ipv4/tcp_ipv4.c), of which a busy machine has tens of thousands: to read them takes 50 ms.
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
