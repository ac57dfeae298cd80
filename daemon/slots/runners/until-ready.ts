import { setTimeout as pause } from 'node:timers/promises';
import type { Probe } from '../engines/run-spec.ts';
import type { AskEngine, EngineAnswer } from '../lifecycle/health.ts';
import type { Endpoint } from './runner.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** An engine that is busy with its load may be slow to say so. */
const ANSWER_MS = 5_000;

export type ProbeVerdict = 'loading' | 'ready' | 'wrong';

/** What an answer to the probe means. */
export function probeVerdict(probe: Probe, { status, body }: EngineAnswer): ProbeVerdict {
  if (probe.loading.includes(status)) return 'loading';
  if (status < 200 || status > 299) return 'wrong';
  return probe.contains === undefined || body.includes(probe.contains) ? 'ready' : 'wrong';
}

/** The server that answers is not the engine that was meant; the message is the reason, in one line. */
export class WrongServer extends Error {}

/** The pause before the next question: 100 ms, growing to 1 s. */
export const nextPause = (before: number): number =>
  before === 0 ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, Math.ceil(before * 1.5));

/** Asks the probe once; null when nobody answers. Rejects with WrongServer, or the signal's reason. */
export async function askProbe(
  ask: AskEngine,
  endpoint: Endpoint,
  probe: Probe,
  signal: AbortSignal,
): Promise<EngineAnswer | null> {
  try {
    return await ask(endpoint, { method: 'GET', path: probe.path, limitMs: ANSWER_MS }, signal);
  } catch (cause) {
    signal.throwIfAborted();
    if ((cause as NodeJS.ErrnoException).code === 'ERR_UNREACHABLE_ADDRESS') {
      throw new WrongServer('The address leads to a place that is never connected to.');
    }
    return null;
  }
}

export interface UntilReady {
  readonly ask: AskEngine;
  readonly endpoint: Endpoint;
  readonly probe: Probe;
  /** Ends the questions; whoever waits for a load sets its limit. */
  readonly signal: AbortSignal;
  /** Asked before each question: whether there is somebody of ours to ask. Throws to give up. */
  open?(): boolean;
}

/** Resolves when the probe finds the model loaded; rejects with WrongServer, what `open` throws, or the signal's reason. */
export async function untilReady({ ask, endpoint, probe, signal, open }: UntilReady): Promise<void> {
  for (let wait = nextPause(0); ; wait = nextPause(wait)) {
    signal.throwIfAborted();
    const answer = (open?.() ?? true) ? await askProbe(ask, endpoint, probe, signal) : null;
    const verdict = answer === null ? 'loading' : probeVerdict(probe, answer);
    if (verdict === 'ready') return;
    if (verdict === 'wrong') {
      throw new WrongServer(`The engine answered its health check with status ${answer?.status}.`);
    }
    await pause(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
