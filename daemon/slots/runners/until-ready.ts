import { setTimeout as pause } from 'node:timers/promises';
import type { Probe } from '../engines/run-spec.ts';
import type { EngineResponse, QueryEngine } from '../lifecycle/health.ts';
import type { Endpoint } from './runner.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1_000;
/** An engine that is loading may be slow to respond. */
const ANSWER_MS = 5_000;

export type ProbeVerdict = 'loading' | 'ready' | 'wrong';

/** Returns what a response to the probe means. */
export function probeVerdict(probe: Probe, { status, body }: EngineResponse): ProbeVerdict {
  if (probe.loading.includes(status)) return 'loading';
  if (status < 200 || status > 299) return 'wrong';
  return probe.contains === undefined || body.includes(probe.contains) ? 'ready' : 'wrong';
}

/** The server that responds is not the expected engine. The message is the reason, in one line. */
export class WrongServerError extends Error {}

/** Returns the pause before the next probe: 100 ms, growing to 1 s. */
export const nextPause = (before: number): number =>
  before === 0 ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, Math.ceil(before * 1.5));

/**
 * Sends the probe once. Returns null when there is no response. Calls `onProbed` with the error, or with null after
 * a response. Rejects with WrongServerError, with what `onProbed` throws, or with the signal's reason.
 */
export async function sendProbe(
  query: QueryEngine,
  endpoint: Endpoint,
  probe: Probe,
  signal: AbortSignal,
  onProbed: (failure: unknown) => void = () => {},
): Promise<EngineResponse | null> {
  let response: EngineResponse;
  try {
    response = await query(endpoint, { method: 'GET', path: probe.path, limitMs: ANSWER_MS }, signal);
  } catch (cause) {
    signal.throwIfAborted();
    if ((cause as NodeJS.ErrnoException).code === 'ERR_UNREACHABLE_ADDRESS') {
      throw new WrongServerError('The address leads to a place that is never connected to.');
    }
    onProbed(cause);
    return null;
  }
  onProbed(null);
  return response;
}

export interface WaitUntilReadyOptions {
  readonly query: QueryEngine;
  readonly endpoint: Endpoint;
  readonly probe: Probe;
  /** Aborts the wait. The caller sets the time limit. */
  readonly signal: AbortSignal;
  /** Returns whether the own engine listens; called before each probe. Throws to give up. */
  canProbe?(): boolean;
  /** Called after each probe with its error, null for a response. Throws to give up. */
  onProbed?(failure: unknown): void;
}

/**
 * Resolves when the probe finds the model loaded. Rejects with WrongServerError, with what `canProbe` and
 * `onProbed` throw, or with the signal's reason.
 */
export async function waitUntilReady({
  query,
  endpoint,
  probe,
  signal,
  canProbe,
  onProbed,
}: WaitUntilReadyOptions): Promise<void> {
  for (let wait = nextPause(0); ; wait = nextPause(wait)) {
    signal.throwIfAborted();
    const canSend = canProbe?.() ?? true;
    const response = canSend ? await sendProbe(query, endpoint, probe, signal, onProbed) : null;
    const verdict = response === null ? 'loading' : probeVerdict(probe, response);
    if (verdict === 'ready') return;
    if (verdict === 'wrong') {
      throw new WrongServerError(`The engine answered its health check with status ${response?.status}.`);
    }
    await pause(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
