import { setTimeout as pause } from 'node:timers/promises';
import type { LaunchFor } from '../engines/engine.ts';
import type { EngineResponse, QueryEngine } from '../lifecycle/health.ts';
import { loadedAt } from './key.ts';
import { reportedMemory } from './memory-report.ts';
import {
  type Endpoint,
  type EngineExit,
  failedStart,
  type LoadedEngine,
  type Runner,
  type RunningEngine,
} from './runner.ts';
import { nextPause, probeVerdict, sendProbe, WrongServerError, waitUntilReady } from './until-ready.ts';

export interface AttachRunnerDeps {
  /** Returns a variable of the gateway's environment. */
  environment(name: string): string | undefined;
  readonly query: QueryEngine;
  /** Returns whether an address leads to the gateway's own listener. */
  isSelf(url: URL): Promise<boolean>;
  /** How a loaded server is watched; default: every 5 s, given up after 30 s and 3 probes without a good response. */
  readonly watch?: WatchPace;
}

interface WatchPace {
  readonly intervalMs: number;
  readonly maxMisses: number;
  /** Minimum time without a good response, in milliseconds: each failed call causes a probe, so that three come fast. */
  readonly minOutageMs: number;
}

/** Maximum time for the unload call, in milliseconds. */
const MAX_UNLOAD_CALL_MS = 5_000;

const SELF = 'The address of url is this gateway itself.';
const WATCH: WatchPace = { intervalMs: 5_000, maxMisses: 3, minOutageMs: 30_000 };

/**
 * How long a server may be unreachable before its slot fails, in milliseconds. A caller waits for that time, so it
 * is shorter than the start of a server.
 */
const UNREACHABLE_LIMIT_MS = 1_200;
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens at the address of url: the connection was refused.',
  ENOTFOUND: 'The host name of url cannot be resolved.',
  EHOSTUNREACH: 'There is no route to the host of url.',
  EHOSTDOWN: 'The host of url is down.',
  ENETUNREACH: 'There is no route to the network of url.',
};

/** Returns the code of a failed connection: its own, or the first one of a name with several addresses. */
function codeOf(cause: unknown): string {
  const { code, errors } = (cause ?? {}) as { code?: unknown; errors?: unknown[] };
  if (typeof code === 'string') return code;
  return errors?.length ? codeOf(errors[0]) : '';
}

/** A connection of the pool that the server has closed, for example because it ended. */
const BROKEN: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
/** Maximum number of broken connections in one check. */
const MAX_BROKEN = 3;

const isUnreachable = (failure: unknown): boolean => UNREACHABLE[codeOf(failure)] !== undefined;

/** Returns a function that throws WrongServerError with the cause when a server stays unreachable. */
function unreachableLimit(): (failure: unknown) => void {
  let since: number | null = null;
  return (failure) => {
    const reason = UNREACHABLE[codeOf(failure)];
    const now = performance.now();
    since = reason === undefined ? null : (since ?? now);
    if (since !== null && now - since >= UNREACHABLE_LIMIT_MS) throw new WrongServerError(reason);
  };
}

const exitOf = (reason: string): EngineExit => ({ code: null, signal: null, reason });

type AttachedServerDeps = AttachRunnerDeps & {
  readonly launch: LaunchFor<'attach'>;
  readonly endpoint: Endpoint;
};

/** A server that is run by someone else: probed and watched, never started or stopped. */
class AttachedServer implements RunningEngine {
  readonly pid = null;
  readonly loaded: Promise<LoadedEngine>;
  readonly ended: Promise<EngineExit>;
  readonly #deps: AttachedServerDeps;
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<LoadedEngine>();
  #isLoaded = false;
  /** The probe that was requested because a call failed. */
  #requested: PromiseWithResolvers<boolean> | null = null;
  #wake: () => void = () => {};
  #heldBytes: number | null = null;

  constructor(deps: AttachedServerDeps) {
    this.#deps = deps;
    this.loaded = this.#ready.promise;
    this.ended = this.#live();
  }

  progress(): null {
    return null;
  }

  lines(): readonly string[] {
    return [];
  }

  heldBytes(): number | null {
    return this.#heldBytes;
  }

  check(): Promise<boolean> {
    this.#requested ??= Promise.withResolvers();
    this.#wake();
    return this.#requested.promise;
  }

  async stop(graceMs: number): Promise<EngineExit> {
    const followed = !this.#stop.signal.aborted && this.#isLoaded;
    this.#stop.abort(new Error('stopped'));
    if (followed) await this.#sendUnloadCall(Math.min(graceMs, MAX_UNLOAD_CALL_MS));
    return this.ended;
  }

  /**
   * Sends the unload call. Ignores its outcome: the server belongs to someone else, and the slot is detached either
   * way.
   */
  async #sendUnloadCall(limitMs: number): Promise<void> {
    const { query, endpoint, launch } = this.#deps;
    const { unloadCall } = launch.how;
    if (unloadCall === undefined || limitMs <= 0) return;
    const request = { method: 'POST', ...unloadCall, limitMs } as const;
    await query(endpoint, request, AbortSignal.timeout(limitMs)).catch(() => {});
  }

  async #live(): Promise<EngineExit> {
    const { signal } = this.#stop;
    try {
      return exitOf(await this.#followUntilUnreachable(signal));
    } catch (cause) {
      if (signal.aborted) return exitOf('The slot was detached from the server.');
      return exitOf(
        cause instanceof WrongServerError ? cause.message : 'The attached server could not be followed.',
      );
    }
  }

  async #followUntilUnreachable(signal: AbortSignal): Promise<string> {
    const { query, endpoint, launch, isSelf, watch = WATCH } = this.#deps;
    const { probe, url, memoryReport } = launch.how;
    const address = new URL(url);
    if (await isSelf(address)) return SELF;
    await waitUntilReady({ query, endpoint, probe, signal, onProbed: unreachableLimit() });
    // The gateway's listener may have opened in the meantime.
    if (await isSelf(address)) return SELF;
    this.#isLoaded = true;
    this.#ready.resolve({ ...loadedAt(launch, endpoint), device: 'remote' });
    let goodAt = performance.now();
    for (let missed = 0; missed < watch.maxMisses || performance.now() - goodAt < watch.minOutageMs; ) {
      await this.#untilDue(watch.intervalMs, signal);
      const requested = this.#requested;
      const answer =
        requested === null
          ? await sendProbe(query, endpoint, probe, signal)
          : await this.#probeAfterFailure(signal);
      const isReady = answer !== null && probeVerdict(probe, answer) === 'ready';
      if (requested !== null) this.#requested = null;
      requested?.resolve(isReady);
      if (isReady && memoryReport !== undefined) this.#heldBytes = reportedMemory(memoryReport, answer.body);
      missed = isReady ? 0 : missed + 1;
      if (isReady) goodAt = performance.now();
    }
    return 'The attached server no longer answers.';
  }

  /** Waits for the next regular probe, or until one is requested. */
  async #untilDue(intervalMs: number, signal: AbortSignal): Promise<void> {
    if (this.#requested !== null) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const either = AbortSignal.any([signal, woken.signal]);
    await pause(intervalMs, undefined, { signal: either }).catch(() => signal.throwIfAborted());
  }

  /** Probes until the server responds. Throws WrongServerError when it stays unreachable. */
  async #probeAfterFailure(signal: AbortSignal): Promise<EngineResponse | null> {
    const { query, endpoint, launch } = this.#deps;
    const giveUp = unreachableLimit();
    let broken = 0;
    for (let wait = nextPause(0); ; wait = nextPause(wait)) {
      let failure: unknown = null;
      const answer = await sendProbe(query, endpoint, launch.how.probe, signal, (cause) => {
        failure = cause;
        giveUp(cause);
      });
      if (answer !== null) return answer;
      if (BROKEN.has(codeOf(failure))) broken++;
      else if (!isUnreachable(failure)) return null;
      if (broken >= MAX_BROKEN) return null;
      await pause(wait, undefined, { signal });
    }
  }
}

/**
 * Creates the runner for servers that the gateway does not start. The key comes from an environment variable and is
 * sent to that address only.
 */
export function createAttachRunner(deps: AttachRunnerDeps): Runner {
  const start = (launch: LaunchFor<'attach'>): RunningEngine => {
    const { url, keyVariable } = launch.how;
    const key = keyVariable === null ? null : deps.environment(keyVariable);
    if (key === undefined) return failedStart(`The variable ${keyVariable} that key_env names is not set.`);
    const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
    return new AttachedServer({ ...deps, launch, endpoint: { origin: new URL(url).origin, headers } });
  };
  return { id: 'attach', start: (launch) => start(launch as LaunchFor<'attach'>) };
}
