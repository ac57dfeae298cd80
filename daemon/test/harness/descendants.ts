import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessInfo {
  pid: number;
  argv: string;
  /** Environment as in /proc: entries separated by NUL. */
  environ: string;
}

const readProc = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
};

const parentOf = (pid: number): number =>
  Number(readProc(pid, 'stat').split(') ').at(-1)?.split(' ')[1] ?? 0);

/** Returns every descendant of `pid` with its arguments and environment. */
export function descendants(pid: number): ProcessInfo[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const children = pids.filter((each) => parentOf(each) === pid);
  return children.flatMap((child) => [
    { pid: child, argv: readProc(child, 'cmdline'), environ: readProc(child, 'environ') },
    ...descendants(child),
  ]);
}

/** Whether a process with this id exists. */
export const isAlive = (pid: number | null): boolean => pid !== null && existsSync(`/proc/${pid}`);
