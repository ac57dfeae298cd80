import { setTimeout as sleep } from 'node:timers/promises';
import { type ClosedLoad, type RunningLoad, startWrk } from './closed-loop.ts';
import type { Machine } from './machine.ts';
import { cpuNs, mainThreadNs } from './process-figures.ts';
import type { Target } from './targets.ts';

/** One turn: much shorter than the periods in which the machine is fast or slow, and long enough to outweigh cold caches. */
const TURN_MS = 120;
/** The connections of all loads are opened before the first turn. */
const OPENING_MS = 300;

/** The cost of one target over all its turns. */
export interface TurnCost {
  /** Microseconds of CPU for each request, of all threads and child processes. */
  readonly usPerRequest: number;
  /** The same of the main thread alone, which runs all JavaScript of a Node process. */
  readonly mainUsPerRequest: number;
  readonly requests: number;
  /** Requests that failed. */
  readonly failed: number;
}

interface Cpu {
  readonly all: number;
  readonly main: number;
}
const cpuOf = (pid: number): Cpu => ({ all: cpuNs(pid), main: mainThreadNs(pid) });

/** The processes of a target that run in its turns only: its load, itself, and its own model server. */
type Group = readonly number[];

function signal(group: Group, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of group) {
    try {
      process.kill(pid, name);
    } catch {
      // The load has ended by itself.
    }
  }
}

/**
 * Measures all targets side by side and returns the cost of each, in their order. Every target is under load, but at any moment
 * all groups but one are stopped, so that other work on the machine affects all targets alike. Needs wrk.
 */
export async function runAlternating(
  machine: Machine,
  targets: readonly Target[],
  load: ClosedLoad,
): Promise<TurnCost[]> {
  const began = Date.now();
  const before = targets.map(({ pid }) => cpuOf(pid));
  const loads = targets.map((target) => startWrk(machine, target, load));
  const groups = targets.map(({ pid, upstreamPid }, at): Group => {
    const own = upstreamPid === undefined ? [pid] : [pid, upstreamPid];
    return [(loads[at] as RunningLoad).pid, ...own];
  });
  const resumeAll = (): void => {
    for (const group of groups) signal(group, 'SIGCONT');
  };
  // An interrupted bench exits without the code below, and a stopped process would never receive its SIGTERM.
  process.once('exit', resumeAll);
  const lastTurn = began + load.secs * 1000 - OPENING_MS - targets.length * TURN_MS;
  try {
    await sleep(OPENING_MS);
    for (const group of groups) signal(group, 'SIGSTOP');
    while (Date.now() < lastTurn) {
      for (const group of groups) {
        signal(group, 'SIGCONT');
        await sleep(TURN_MS);
        signal(group, 'SIGSTOP');
      }
    }
  } finally {
    resumeAll();
    process.off('exit', resumeAll);
  }
  const runs = await Promise.all(loads.map(({ ended }) => ended));
  return runs.map(({ requests, bad }, at) => {
    const now = cpuOf((targets[at] as Target).pid);
    const usEach = (thread: 'all' | 'main') => (now[thread] - (before[at] as Cpu)[thread]) / 1000 / requests;
    return { usPerRequest: usEach('all'), mainUsPerRequest: usEach('main'), requests, failed: bad };
  });
}
