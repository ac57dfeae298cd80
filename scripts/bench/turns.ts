import { setTimeout as sleep } from 'node:timers/promises';
import { type ClosedLoad, startWrk } from './load-closed.ts';
import type { Machine } from './machine.ts';
import { cpuNs } from './process-figures.ts';
import type { Target } from './targets.ts';

/** One turn: far shorter than a machine's moods, and long enough that what a turn begins with, cold caches, does not decide. */
const TURN_MS = 120;
/** The connections of all loads are opened before the first turn. */
const OPENING_MS = 300;

interface Pair {
  readonly gateway: number;
  readonly load: number;
}

function signal({ gateway, load }: Pair, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of [load, gateway]) {
    try {
      process.kill(pid, name);
    } catch {
      // Its load has ended by itself.
    }
  }
}

/**
 * Microseconds of CPU for each request of every target, in their order. All are loaded at once, but all but one of them, and their
 * loads, stand still at any moment: so each has the same share of whatever the machine does meanwhile. Needs wrk.
 */
export async function inTurns(
  machine: Machine,
  targets: readonly Target[],
  load: ClosedLoad,
): Promise<number[]> {
  const began = Date.now();
  const before = targets.map(({ pid }) => cpuNs(pid));
  const loads = targets.map((target) => startWrk(machine, target, load));
  const pairs = targets.map(({ pid }, at): Pair => ({ gateway: pid, load: loads[at]?.pid ?? 0 }));
  const goOn = (): void => {
    for (const pair of pairs) signal(pair, 'SIGCONT');
  };
  // Who interrupts the bench ends it without what follows: a process that stands still would do so for ever.
  process.once('exit', goOn);
  const lastTurn = began + load.secs * 1000 - OPENING_MS - targets.length * TURN_MS;
  try {
    await sleep(OPENING_MS);
    for (const pair of pairs) signal(pair, 'SIGSTOP');
    while (Date.now() < lastTurn) {
      for (const pair of pairs) {
        signal(pair, 'SIGCONT');
        await sleep(TURN_MS);
        signal(pair, 'SIGSTOP');
      }
    }
  } finally {
    goOn();
    process.off('exit', goOn);
  }
  const runs = await Promise.all(loads.map(({ ended }) => ended));
  return runs.map(({ requests }, at) => {
    const spent = cpuNs((targets[at] as Target).pid) - (before[at] as number);
    return spent / 1000 / requests;
  });
}
