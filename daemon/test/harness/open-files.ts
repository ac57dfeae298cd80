import { readdirSync, readlinkSync } from 'node:fs';

/** What a living process holds open: all descriptors, and the sockets among them. */
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
