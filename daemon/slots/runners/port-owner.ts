import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { listeningSockets, readListening } from '../../lib/net/listening-sockets.ts';

/** Who listens on a port: no process, only processes of the given session, or also a foreign one. */
export type PortOwner = 'none' | 'own' | 'foreign' | 'unknown';

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
};

/** Returns the inodes of the sockets that listen on `port`, from the text of `/proc/net/tcp` or `tcp6`. */
export function listeners(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return listeningSockets(table)
    .filter(([, local]) => local?.endsWith(suffix))
    .map((fields) => fields[9] as string);
}

/** Returns the session of a process from the text of `/proc/PID/stat`. */
const sessionIn = (stat: string): number =>
  Number(
    stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ')[3],
  );

function linksOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => linkAt(join(folder, name)));
  } catch {
    return [];
  }
}

function linkAt(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

/** Returns the links of all open files of every process of a session. */
function filesOfSession(session: number, proc: string): Set<string> {
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  const own = pids.filter((pid) => sessionIn(read(join(proc, pid, 'stat')) ?? '') === session);
  return new Set(own.flatMap((pid) => linksOf(join(proc, pid, 'fd'))));
}

/**
 * Returns who listens on a TCP port of this host, on any address: `own` only if every such socket is held by a
 * process of `session`, `unknown` if the kernel does not report it (no `/proc`).
 */
export function portOwner(port: number, session: number, proc = '/proc'): PortOwner {
  const tables = ['net/tcp', 'net/tcp6'].map((name) => readListening(join(proc, name)));
  if (tables[0] === null) return 'unknown';
  const inodes = tables.flatMap((table) => (table === null ? [] : listeners(table, port)));
  if (inodes.length === 0) return 'none';
  const files = filesOfSession(session, proc);
  return inodes.every((inode) => files.has(`socket:[${inode}]`)) ? 'own' : 'foreign';
}
