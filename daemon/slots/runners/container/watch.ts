import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { ContainerEngine, ContainerState } from '../../../lib/container-engine/container-engine.ts';
import { exitReason } from '../../lifecycle/failure-reason.ts';
import type { EngineExit } from '../runner.ts';

/** Maximum duration of one wait call; it is then repeated. */
const WAIT_MS = 300_000;
/** Pause between calls to an engine that does not respond; Podman containers run without it. */
const PAUSE_MS = 1_000;
/** Number of earlier lines to read after an adoption. */
const TAIL_LINES = 200;
/** A process that was ended by a signal exits with this code plus the signal number. */
const SIGNAL_BASE = 128;

/**
 * Resolves when the container no longer runs, with its last state, or null when it was removed. Keeps waiting while
 * the engine does not respond. Rejects with the signal's reason only.
 */
export async function waitUntilStopped(
  engine: ContainerEngine,
  id: string,
  signal: AbortSignal,
): Promise<ContainerState | null> {
  for (;;) {
    try {
      await engine.wait(id, WAIT_MS, signal);
      const state = await engine.inspect(id, signal);
      if (state === null || !state.running) return state;
    } catch {
      signal.throwIfAborted();
    }
    await pause(PAUSE_MS, undefined, { signal });
  }
}

/** Follows the output until the container ends or the signal aborts. Never rejects. */
export async function followOutput(
  engine: ContainerEngine,
  id: string,
  signal: AbortSignal,
  onOutput: (bytes: Buffer) => void,
): Promise<void> {
  for (let tail = TAIL_LINES; !signal.aborted; tail = 0) {
    try {
      return await engine.follow(id, { signal, limitMs: WAIT_MS, tail, isLive: true, onOutput });
    } catch {
      await pause(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/**
 * Reads the last output of a container that has ended. Podman ends the stream of one that ends soon after its start
 * before the output is in its log. Never rejects.
 */
export const readLastOutput = (
  engine: ContainerEngine,
  id: string,
  limitMs: number,
  onOutput: (bytes: Buffer) => void,
): Promise<void> =>
  engine
    .follow(id, { signal: AbortSignal.timeout(limitMs), limitMs, tail: TAIL_LINES, isLive: false, onOutput })
    .catch(() => {});

function signalOf(exitCode: number): string | null {
  const known = Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE);
  return known?.[0] ?? null;
}

/** Returns how and why a container ended, from its last state and output. */
export function exitOf(state: ContainerState | null, lines: readonly string[]): EngineExit {
  if (state === null)
    return { code: null, signal: null, reason: 'The container was removed by another program.' };
  const signal = signalOf(state.exitCode);
  const code = signal === null ? state.exitCode : null;
  if (state.outOfMemory) {
    return { code, signal, reason: 'The engine needed more memory than its container may have.' };
  }
  const output = lines.length === 0 && state.error !== '' ? [state.error] : lines;
  return { code, signal, reason: exitReason({ code, signal }, output) };
}
