import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Memory in bytes: the resident size, and its private part, which no file backs: anonymous and shared memory, and what
 * was swapped out.
 */
export interface ProcessMemory {
  readonly resident: number;
  readonly anonymous: number;
}

/** The parts of the memory of one process, in bytes. */
interface MemoryParts {
  readonly anonymous: number;
  readonly shared: number;
  readonly files: number;
  /** Whether pages that several processes map are divided among them, so that the parts can be added up. */
  readonly isProportional: boolean;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
};

const names = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Returns the bytes of a line such as `VmRSS:  12 kB`; null without that line. */
function bytesIn(text: string, name: string): number | null {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
  return match === null ? null : Number(match[1]) * 1024;
}

/** Parses `/proc/PID/status`. Null for a process that has no memory, such as a zombie. */
function residentParts(text: string): MemoryParts | null {
  const resident = bytesIn(text, 'VmRSS');
  if (resident === null) return null;
  const anonymous = bytesIn(text, 'RssAnon') ?? resident;
  const shared = bytesIn(text, 'RssShmem') ?? 0;
  return {
    anonymous: anonymous + (bytesIn(text, 'VmSwap') ?? 0),
    shared,
    files: Math.max(0, resident - anonymous - shared),
    isProportional: false,
  };
}

/** Parses `/proc/PID/smaps_rollup`. Null when it is empty, or of a kernel before 5.3, which does not split it. */
function proportionalParts(text: string): MemoryParts | null {
  const of = (name: string) => bytesIn(text, name);
  const [anonymous, files, shared] = [of('Pss_Anon'), of('Pss_File'), of('Pss_Shmem')];
  if (anonymous === null || files === null || shared === null) return null;
  return { anonymous: anonymous + (of('SwapPss') ?? 0), shared, files, isProportional: true };
}

const statusOf = (pid: number, proc: string): MemoryParts | null =>
  residentParts(read(join(proc, String(pid), 'status')));

/** Returns the parts of one process, proportional when the kernel lets this process read them. */
async function partsOf(pid: number, proc: string): Promise<MemoryParts | null> {
  const text = await readFile(join(proc, String(pid), 'smaps_rollup'), 'latin1').catch(() => '');
  return proportionalParts(text) ?? statusOf(pid, proc);
}

/**
 * Returns the sum of the parts of the processes of a tree. Where they are not proportional, the largest part of files
 * and of shared memory counts once, because the processes of a tree map the same ones.
 */
function sumOf(members: readonly MemoryParts[]): ProcessMemory {
  let anonymous = 0;
  const added = { shared: 0, files: 0 };
  const largest = { shared: 0, files: 0 };
  for (const { anonymous: own, shared, files, isProportional } of members) {
    anonymous += own;
    added.shared += isProportional ? shared : 0;
    added.files += isProportional ? files : 0;
    largest.shared = Math.max(largest.shared, isProportional ? 0 : shared);
    largest.files = Math.max(largest.files, isProportional ? 0 : files);
  }
  anonymous += added.shared + largest.shared;
  return { resident: anonymous + added.files + largest.files, anonymous };
}

/** Maximum number of processes of one tree. */
const MAX_TREE_PROCESSES = 256;

/** Returns the pids of a process and all its descendants, itself first. Each thread can have children. */
export function processTree(pid: number, proc = '/proc'): number[] {
  const pids = [pid];
  for (const member of pids) {
    if (pids.length > MAX_TREE_PROCESSES) break;
    const tasks = join(proc, String(member), 'task');
    for (const thread of names(tasks)) {
      const children = read(join(tasks, thread, 'children'));
      pids.push(...children.split(' ').filter(Boolean).map(Number));
    }
  }
  return pids;
}

/**
 * Returns the memory of a process and its descendants from their resident sizes. Null when the process is not running.
 * Synchronous and cheap: tens of microseconds per process and thread.
 */
export function processTreeMemory(pid: number, proc = '/proc'): ProcessMemory | null {
  const [own, ...others] = processTree(pid, proc).map((member) => statusOf(member, proc));
  return own == null ? null : sumOf([own, ...others.filter((other) => other != null)]);
}

/**
 * Returns the memory of a process and its descendants, where pages that several processes map are divided among them
 * (proportional set size). Processes of other users count with their resident size. Null when the process is not
 * running. The kernel walks the page tables of each process for this: tens of milliseconds for a large one.
 */
export async function proportionalTreeMemory(pid: number, proc = '/proc'): Promise<ProcessMemory | null> {
  const [own, ...others] = await Promise.all(processTree(pid, proc).map((member) => partsOf(member, proc)));
  return own == null ? null : sumOf([own, ...others.filter((other) => other != null)]);
}
