import type { Launch } from '../engines/engine.ts';
import type { Loaded, Running } from '../runners/runner.ts';
import type { Clock } from './clock.ts';
import { CheckFailure } from './health.ts';

/** A start that failed by itself; the message is its reason, in one line without paths. */
export class LaunchFailure extends Error {}

export interface AttemptParts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What the engine is made of is here; its load begins. Not told for an engine that fetches nothing. */
  onFetched?(): void;
  /** The model is loaded; the checks follow. */
  onLoaded(loaded: Loaded): void;
  check(loaded: Loaded, signal: AbortSignal): Promise<void>;
}

function lastingAtMost(clock: Clock, ms: number): { over: Promise<never>; clear: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const seconds = Math.round(ms / 1000);
  const clear = clock.after(ms, () =>
    reject(new LaunchFailure(`The model was not loaded within ${seconds} s.`)),
  );
  promise.catch(() => {});
  return { over: promise, clear };
}

function aborted(signal: AbortSignal): { left: Promise<never>; clear: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  promise.catch(() => {});
  return { left: promise, clear: () => signal.removeEventListener('abort', leave) };
}

/**
 * Follows one started engine until it is fit to serve: loaded within its limit, every check answered well. Rejects
 * with LaunchFailure, or with the signal's reason; the engine is left as it is, its owner ends it.
 */
export async function followStart(running: Running, launch: Launch, parts: AttemptParts): Promise<Loaded> {
  const inner = new AbortController();
  const abort = aborted(parts.signal);
  const died = running.ended.then<never>(({ reason }) => {
    throw new LaunchFailure(reason);
  });
  died.catch(() => {});
  let limit: ReturnType<typeof lastingAtMost> | null = null;
  try {
    if (running.fetched !== undefined) {
      await Promise.race([abort.left, running.fetched, died]);
      parts.onFetched?.();
    }
    limit = lastingAtMost(parts.clock, launch.startLimitMs);
    const loaded = await Promise.race([abort.left, running.loaded, died, limit.over]);
    limit.clear();
    parts.onLoaded(loaded);
    const signal = AbortSignal.any([inner.signal, parts.signal]);
    await Promise.race([abort.left, died, parts.check(loaded, signal)]);
    return loaded;
  } catch (cause) {
    if (cause instanceof CheckFailure) throw new LaunchFailure(cause.message, { cause });
    throw cause;
  } finally {
    inner.abort();
    limit?.clear();
    abort.clear();
  }
}

export type StartOutcome =
  | { readonly kind: 'ready'; readonly loaded: Loaded }
  /** Cut on purpose; the end of the engine was seen. */
  | { readonly kind: 'cut' }
  /** Failed by itself; the end of the engine was seen. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface StartParts extends AttemptParts {
  /** The engine is not wanted or not fit; it is being ended. */
  onStopping(): void;
  /** Milliseconds that it has to end before it is forced. */
  readonly graceMs: number;
}

/** Follows a start to its outcome, the end of an unfit engine included. Never rejects. */
export async function outcomeOfStart(
  running: Running,
  launch: Launch,
  parts: StartParts,
): Promise<StartOutcome> {
  try {
    return { kind: 'ready', loaded: await followStart(running, launch, parts) };
  } catch (cause) {
    parts.onStopping();
    await running.stop(parts.graceMs);
    if (parts.signal.aborted) return { kind: 'cut' };
    return {
      kind: 'failed',
      reason: cause instanceof LaunchFailure ? cause.message : 'The start broke off.',
    };
  }
}
