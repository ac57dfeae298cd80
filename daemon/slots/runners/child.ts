import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { startTicksOf } from '../../lib/process/process-identity.ts';
import type { EngineLog } from '../lifecycle/engine-log.ts';
import { exitReason } from '../lifecycle/failure-reason.ts';
import { signalGroup, writeRunRecord } from '../lifecycle/orphans.ts';
import type { EngineExit } from './runner.ts';

/** Time to wait for the last output of an engine that has exited. */
const LAST_OUTPUT_MS = 250;
/** Older output does not explain why a signal ended the engine. */
const SIGNAL_OUTPUT_MS = 10_000;
/** Under memory pressure the kernel kills engines before the gateway. */
const OOM_SCORE = '600';

export const notStarted = (cause: unknown): string =>
  `The engine could not be started (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`;

export interface WatchExitDeps {
  readonly log: EngineLog;
  /** Returns a better reason than the exit status and the output; null when there is none. */
  knownReason(): string | null;
  /** Called when the exit was observed. */
  onExit(): void;
}

/**
 * Writes the output to the log. Resolves when the exit of the process was observed and its process group is killed.
 */
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
      const lines = signal === null ? log.lines(50) : log.linesSince(Date.now() - SIGNAL_OUTPUT_MS);
      const reason = reasonOverride ?? knownReason() ?? exitReason({ code, signal }, lines);
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

/**
 * Records a started child for the next start of the gateway, and makes it the kernel's first choice under memory
 * pressure.
 */
export function registerChild(runFolder: string, slot: string, pid: number, nonce: string): void {
  const startTicks = startTicksOf(pid);
  if (startTicks !== null) writeRunRecord(runFolder, { slot, pid, startTicks, nonce });
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // Not every host allows a service to set it.
  }
}

/**
 * Sends SIGTERM to the process group, kills it after `graceMs` (0: immediately), and resolves when the exit was
 * observed. `moreMs` is read at the end of that time: how much longer the process may take.
 */
export async function stopChild(
  child: ChildProcess,
  ended: Promise<EngineExit>,
  graceMs: number,
  moreMs: () => number = () => 0,
): Promise<EngineExit> {
  const { pid } = child;
  if (pid !== undefined && child.exitCode === null && child.signalCode === null) {
    signalGroup(pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
    const kill = () => signalGroup(pid, 'SIGKILL');
    let force = setTimeout(() => {
      const more = graceMs > 0 ? moreMs() : 0;
      if (more > 0) force = setTimeout(kill, more);
      else kill();
    }, graceMs);
    void ended.then(() => clearTimeout(force));
  }
  return ended;
}
