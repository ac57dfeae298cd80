import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../setup-error.ts';
import { listeningSockets, readListening } from './listening-sockets.ts';

/** The first file descriptor of socket activation (man sd_listen_fds). */
const FIRST_FD = 3;

/** A listening TCP socket that the service manager opened. */
export interface InheritedListener {
  fd: number;
  host: string;
  port: number;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the four bytes of a word of `/proc/net/tcp`, which is printed in the byte order of this machine
 * (little endian).
 */
const bytes = (word: string): number[] => [...Buffer.from(word, 'hex')].reverse();

/** Parses address and port as `/proc/net/tcp` and `tcp6` write them: `0100007F:1F90`. */
export function addressOf(text: string): { host: string; port: number } {
  const [address = '', port = ''] = text.split(':');
  const parts = (address.match(/.{8}/g) ?? []).flatMap(bytes);
  return { host: parts.length === 4 ? parts.join('.') : ipv6Of(parts), port: Number.parseInt(port, 16) };
}

function ipv6Of(parts: readonly number[]): string {
  const words = Array.from({ length: 8 }, (_, index) =>
    (((parts[2 * index] ?? 0) << 8) | (parts[2 * index + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${words.join(':')}]`).hostname.slice(1, -1);
}

function listenerInTable(table: string, inode: string): { host: string; port: number } | null {
  const found = listeningSockets(table).find((fields) => fields[9] === inode);
  return found?.[1] === undefined ? null : addressOf(found[1]);
}

function inodeOf(fd: number, proc: string): string | null {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(proc, 'self/fd', String(fd))))?.[1] ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns the socket that the service manager opened for this process (`LISTEN_FDS`, `LISTEN_PID`) with its
 * address, or null without one. Throws SetupError for more than one socket, and for a socket that is not a
 * listening TCP socket.
 */
export function inheritedListener(env: Env, pid: number, proc = '/proc'): InheritedListener | null {
  if (env.LISTEN_PID !== String(pid) || !env.LISTEN_FDS || env.LISTEN_FDS === '0') return null;
  if (env.LISTEN_FDS !== '1') {
    throw new SetupError(
      `The socket unit hands over ${env.LISTEN_FDS} sockets; the gateway serves one.`,
      'Leave one ListenStream= line in it (systemctl edit svc-gateway.socket).',
    );
  }
  const inode = inodeOf(FIRST_FD, proc);
  const tables = ['self/net/tcp', 'self/net/tcp6'].map((name) => readListening(join(proc, name)) ?? '');
  const address =
    inode === null ? undefined : tables.map((table) => listenerInTable(table, inode)).find((each) => each);
  if (address) return { fd: FIRST_FD, ...address };
  throw new SetupError(
    'The socket passed by the socket unit is not a listening TCP socket.',
    'Use ListenStream=ADDRESS:PORT in it, with Accept=no (systemctl edit svc-gateway.socket).',
  );
}
