import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Identifies a process even after its pid has been reassigned. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot (`/proc/PID/stat`, field 22). */
  readonly startTicks: number;
  /** A random string in the environment of the process. */
  readonly nonce: string;
}

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
};

interface ProcessStat {
  readonly state: string;
  readonly group: number;
  readonly session: number;
  readonly startTicks: number;
}

/** Parses `/proc/PID/stat`. Returns null for any other format. */
export function parseStat(text: string): ProcessStat | null {
  const close = text.lastIndexOf(')');
  if (close < 0) return null;
  const fields = text
    .slice(close + 1)
    .trim()
    .split(' ');
  const [group, session, startTicks] = [2, 3, 19].map((at) => Number(fields[at])) as [number, number, number];
  const state = fields[0];
  return state === undefined || !Number.isSafeInteger(startTicks)
    ? null
    : { state, group, session, startTicks };
}

/** Returns the stat of a running process. Returns null when it is not running (a zombie has ended). */
function statOf(pid: number, proc: string): ProcessStat | null {
  const text = read(join(proc, String(pid), 'stat'));
  const stat = text === null ? null : parseStat(text);
  return stat === null || stat.state === 'Z' || stat.state === 'X' ? null : stat;
}

/**
 * Returns the start ticks of a running process. Returns null when it is not running (a zombie has ended) or
 * the host has no `/proc`.
 */
export function startTicksOf(pid: number, proc = '/proc'): number | null {
  return statOf(pid, proc)?.startTicks ?? null;
}

function carriesNonce(pid: number, nonce: string, proc: string): boolean {
  const environment = read(join(proc, String(pid), 'environ'));
  return environment?.split('\0').some((entry) => entry.endsWith(`=${nonce}`)) ?? false;
}

/**
 * Returns whether the process is running, started at that tick and has the nonce in its environment. A
 * reassigned pid never matches.
 */
export function isSameProcess(identity: ProcessIdentity, proc = '/proc'): boolean {
  if (identity.nonce.length < 16 || startTicksOf(identity.pid, proc) !== identity.startTicks) return false;
  return carriesNonce(identity.pid, identity.nonce, proc);
}

function pidsIn(proc: string): number[] {
  try {
    return readdirSync(proc).map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}

/**
 * Returns the process groups that a session leader left behind when it ended: those with a process of its
 * group or session that is not older than it and has its nonce. Empty while any process has its pid.
 */
export function orphanedGroups({ pid, startTicks, nonce }: ProcessIdentity, proc = '/proc'): number[] {
  if (nonce.length < 16 || startTicksOf(pid, proc) !== null) return [];
  const groups = pidsIn(proc).flatMap((member) => {
    const stat = statOf(member, proc);
    if (stat === null || stat.startTicks < startTicks) return [];
    const related = stat.group === pid || stat.session === pid;
    return related && carriesNonce(member, nonce, proc) ? [stat.group] : [];
  });
  return [...new Set(groups)];
}

/** Memory of a process in bytes: the resident size, and its anonymous part (not backed by files). */
export interface ProcessMemory {
  readonly resident: number;
  readonly anonymous: number;
}

/** Returns the memory of a running process, or null if it is unknown. */
export function memoryOf(pid: number, proc = '/proc'): ProcessMemory | null {
  const status = read(join(proc, String(pid), 'status')) ?? '';
  const bytes = (name: string): number | null => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
    return match === null ? null : Number(match[1]) * 1024;
  };
  const resident = bytes('VmRSS');
  return resident === null ? null : { resident, anonymous: bytes('RssAnon') ?? resident };
}

/** Maximum number of processes of one tree. */
const MAX_TREE_PROCESSES = 256;

/** Returns the pids of a process and all its descendants, itself first. */
export function processTree(pid: number, proc = '/proc'): number[] {
  const pids = [pid];
  for (const member of pids) {
    const children = read(join(proc, String(member), 'task', String(member), 'children')) ?? '';
    pids.push(...children.split(' ').filter(Boolean).map(Number));
    if (pids.length > MAX_TREE_PROCESSES) break;
  }
  return pids;
}

/**
 * Returns the memory of a process and its descendants: the sum of the anonymous parts plus the largest
 * file-backed part, because the processes of a tree map the same files. Returns null when the process is not
 * running.
 */
export function processTreeMemory(pid: number, proc = '/proc'): ProcessMemory | null {
  const [own, ...others] = processTree(pid, proc).map((member) => memoryOf(member, proc));
  if (own === null || own === undefined) return null;
  let { anonymous, resident } = own;
  let backed = resident - anonymous;
  for (const other of others) {
    if (other === null) continue;
    anonymous += other.anonymous;
    backed = Math.max(backed, other.resident - other.anonymous);
  }
  resident = anonymous + backed;
  return { resident, anonymous };
}
