import { readdirSync, readlinkSync } from 'node:fs';

/** Counts the open descriptors of a process, and the sockets among them. */
export function openFiles(pid: number): { all: number; sockets: number } {
  const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return { all: targets.length, sockets: targets.filter((target) => target.startsWith('socket:')).length };
}
