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
