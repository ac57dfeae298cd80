import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import type { EngineLog } from '../lifecycle/engine-log.ts';
import { exitReason } from '../lifecycle/failure-reason.ts';
import { signalGroup, writeRunRecord } from '../lifecycle/orphans.ts';
import type { EngineExit } from './runner.ts';

/** Time for the last output of an ended engine to arrive. */
const LAST_OUTPUT_MS = 250;
/** Under memory pressure the kernel takes engines before the gateway. */
const OOM_SCORE = '600';

export const notStarted = (cause: unknown): string =>
  `The engine could not be started (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`;

export interface WatchExitDeps {
  readonly log: EngineLog;
  /** The reason that is known better than its exit and its output tell; null when there is none. */
  knownReason(): string | null;
  /** The end was seen. */
  onExit(): void;
}

/** Takes the output into the log, and resolves when the end of the process was seen and its group is gone. */
export function watchExit(
  child: ChildProcess,
  { log, knownReason, onExit }: WatchExitDeps,
): Promise<EngineExit> {
  for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk: Buffer) => log.push(chunk));
  return new Promise((resolve) => {
    let over = false;
    const finish = (code: number | null, signal: string | null, reasonOverride?: string) => {
      if (over) return;
      over = true;
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
      onExit();
      const reason = reasonOverride ?? knownReason() ?? exitReason({ code, signal }, log.lines(50));
      log.note(reason);
      void log.close();
      resolve({ code, signal, reason });
    };
    child.on('error', (cause) => {
      if (child.pid === undefined) finish(null, null, notStarted(cause));
    });
    child.on('exit', (code, signal) => {
      setTimeout(() => finish(code, signal), LAST_OUTPUT_MS);
      child.on('close', () => finish(code, signal));
    });
  });
}

/** Remembers a started child for the next start of the gateway and makes it the kernel's first choice under memory pressure. */
export function registerChild(runFolder: string, slot: string, pid: number, nonce: string): void {
  const startTicks = startTicksOf(pid);
  if (startTicks !== null) writeRunRecord(runFolder, { slot, pid, startTicks, nonce });
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // Not every host lets a service say so.
  }
}

/** Asks the whole group to end, forces it after `graceMs` (0: at once), and resolves when the end was seen. */
export async function stopChild(
  child: ChildProcess,
  ended: Promise<EngineExit>,
  graceMs: number,
): Promise<EngineExit> {
  const { pid } = child;
  if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
    signalGroup(pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const force = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs);
    void ended.then(() => clearTimeout(force));
  }
  return ended;
}
