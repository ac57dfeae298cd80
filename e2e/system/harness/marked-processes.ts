import { readdirSync, readFileSync } from 'node:fs';

/** Whether a process was started, directly or not, with this entry `NAME=value` in its environment. */
function hasEntry(pid: number, entry: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry);
  } catch {
    // It has ended, or belongs to another user.
    return false;
  }
}

/** Process ids of all processes of this machine with `entry` in their environment. Children inherit it, in any group. */
export function markedProcesses(entry: string): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => pid !== process.pid && hasEntry(pid, entry));
}
