import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessFacts {
  pid: number;
  argv: string;
  /** Environment as the kernel keeps it, entries separated by NUL. */
  environ: string;
}

const read = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
};

const parentOf = (pid: number): number => Number(read(pid, 'stat').split(') ').at(-1)?.split(' ')[1] ?? 0);

/** Every living child of `pid`, and theirs, with what anyone with the right to look sees of them. */
export function descendants(pid: number): ProcessFacts[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const children = pids.filter((each) => parentOf(each) === pid);
  return children.flatMap((child) => [
    { pid: child, argv: read(child, 'cmdline'), environ: read(child, 'environ') },
    ...descendants(child),
  ]);
}

/** Whether there is a process with this id. */
export const alive = (pid: number | null): boolean => pid !== null && existsSync(`/proc/${pid}`);
