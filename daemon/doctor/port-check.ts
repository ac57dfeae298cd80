import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { readListening } from '../lib/net/listening-sockets.ts';
import { listeners } from '../slots/runners/port-owner.ts';
import type { PortState } from './doctor-input.ts';

const LIMIT_MS = 2_000;

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function holds(folder: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(folder).some((name) => {
      try {
        return sockets.has(readlinkSync(join(folder, name)));
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}

/** `nginx (process 812)` for the first process that listens on a port; null where this user may not see it. */
export function listenerOn(port: number, proc = '/proc'): string | null {
  const tables = ['net/tcp', 'net/tcp6'].map((name) => readListening(join(proc, name)) ?? '');
  const sockets = new Set(
    tables.flatMap((text) => listeners(text, port)).map((inode) => `socket:[${inode}]`),
  );
  if (sockets.size === 0) return null;
  const pid = readdirSync(proc).find((name) => /^\d+$/.test(name) && holds(join(proc, name, 'fd'), sockets));
  return pid === undefined ? null : `${read(join(proc, pid, 'comm')).trim()} (process ${pid})`;
}

function stateOf(error: NodeJS.ErrnoException, port: number): PortState {
  if (error.code === 'EADDRINUSE') return { state: 'taken', by: listenerOn(port) };
  if (error.code === 'EADDRNOTAVAIL') return { state: 'no_address' };
  if (error.code === 'EACCES') return { state: 'not_permitted' };
  return { state: 'unknown', reason: error.code ?? 'unknown error' };
}

/** Tests whether an address can be listened on, and releases it immediately. Never rejects. */
export function checkPort(host: string, port: number): Promise<PortState> {
  return new Promise((resolve) => {
    const server = createServer();
    const late = setTimeout(() => {
      resolve({ state: 'unknown', reason: 'no answer in time' });
      server.close();
    }, LIMIT_MS);
    server.once('error', (error) => {
      clearTimeout(late);
      resolve(stateOf(error, port));
    });
    server.listen({ host, port, exclusive: true }, () => {
      clearTimeout(late);
      server.close(() => resolve({ state: 'free' }));
    });
  });
}
