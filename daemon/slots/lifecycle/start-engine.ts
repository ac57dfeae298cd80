import type { Launch } from '../engines/engine.ts';
import type { LoadedEngine, RunningEngine } from '../runners/runner.ts';
import type { Clock } from './clock.ts';
import { CheckFailure } from './health.ts';

/** A start that failed on its own. The message is the reason, in one line without paths. */
export class LaunchFailure extends Error {}

export interface FollowStartDeps {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * The image of the engine is on this machine and the load begins. Not called for an engine that fetches nothing.
   */
  onFetched?(): void;
  /** The model is loaded and the checks begin. */
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
 * Follows a started engine until it can serve: it is loaded within its limit and passes every check. Rejects with
 * LaunchFailure or with the signal's reason. Does not stop the engine.
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
    if (running.prepare !== undefined) await Promise.race([abort.left, died, running.prepare(signal)]);
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
  /** Cancelled on purpose, and the end of the engine was observed. */
  | { readonly kind: 'cancelled' }
  /** Failed on its own, and the end of the engine was observed. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface StartDeps extends FollowStartDeps {
  /** The engine is unwanted or unusable and is being stopped. */
  onStopping(): void;
  /** Milliseconds before it is killed. */
  readonly graceMs: number;
}

/** Follows a start to its outcome, including the end of an unusable engine. Never rejects. */
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
