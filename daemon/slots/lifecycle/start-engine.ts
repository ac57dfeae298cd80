import type { Launch } from '../engines/engine.ts';
import type { LoadedEngine, RunningEngine } from '../runners/runner.ts';
import type { Clock } from './clock.ts';
import { CheckFailure } from './health.ts';

/** A start that failed by itself; the message is its reason, in one line without paths. */
export class LaunchFailure extends Error {}

export interface FollowStartDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What the engine is made of is here; its load begins. Not told for an engine that fetches nothing. */
  onFetched?(): void;
  /** The model is loaded; the checks follow. */
  onLoaded(loaded: LoadedEngine): void;
  check(loaded: LoadedEngine, signal: AbortSignal): Promise<void>;
}

function startTimeout(clock: Clock, ms: number): { expired: Promise<never>; clear: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const seconds = Math.round(ms / 1000);
  const clear = clock.after(ms, () =>
    reject(new LaunchFailure(`The model was not loaded within ${seconds} s.`)),
  );
  promise.catch(() => {});
  return { expired: promise, clear };
}

function abortOf(signal: AbortSignal): { left: Promise<never>; clear: () => void } {
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
export async function followStart(
  running: RunningEngine,
  launch: Launch,
  deps: FollowStartDeps,
): Promise<LoadedEngine> {
  const inner = new AbortController();
  const abort = abortOf(deps.signal);
  const died = running.ended.then<never>(({ reason }) => {
    throw new LaunchFailure(reason);
  });
  died.catch(() => {});
  let limit: ReturnType<typeof startTimeout> | null = null;
  try {
    if (running.fetched !== undefined) {
      await Promise.race([abort.left, running.fetched, died]);
      deps.onFetched?.();
    }
    limit = startTimeout(deps.clock, launch.startLimitMs);
    const loaded = await Promise.race([abort.left, running.loaded, died, limit.expired]);
    limit.clear();
    deps.onLoaded(loaded);
    const signal = AbortSignal.any([inner.signal, deps.signal]);
    await Promise.race([abort.left, died, deps.check(loaded, signal)]);
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
  | { readonly kind: 'ready'; readonly loaded: LoadedEngine }
  /** Cut on purpose; the end of the engine was seen. */
  | { readonly kind: 'cancelled' }
  /** Failed by itself; the end of the engine was seen. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface StartDeps extends FollowStartDeps {
  /** The engine is not wanted or not fit; it is being ended. */
  onStopping(): void;
  /** Milliseconds that it has to end before it is forced. */
  readonly graceMs: number;
}

/** Follows a start to its outcome, the end of an unfit engine included. Never rejects. */
export async function startOutcome(
  running: RunningEngine,
  launch: Launch,
  deps: StartDeps,
): Promise<StartOutcome> {
  try {
    return { kind: 'ready', loaded: await followStart(running, launch, deps) };
  } catch (cause) {
    deps.onStopping();
    await running.stop(deps.graceMs);
    if (deps.signal.aborted) return { kind: 'cancelled' };
    return {
      kind: 'failed',
      reason: cause instanceof LaunchFailure ? cause.message : 'The start broke off.',
    };
  }
}
