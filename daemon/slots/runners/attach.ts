import { setTimeout as pause } from 'node:timers/promises';
import type { LaunchBy } from '../engines/engine.ts';
import type { AskEngine } from '../lifecycle/health.ts';
import { loadedAt } from './key.ts';
import { type Ended, type Endpoint, type Loaded, neverStarted, type Runner, type Running } from './runner.ts';
import { askProbe, probeVerdict, untilReady, WrongServer } from './until-ready.ts';

export interface AttachRunnerOptions {
  /** The gateway's environment, by name. */
  environment(name: string): string | undefined;
  readonly ask: AskEngine;
  /** Whether an address leads to the gateway's own listener. */
  isSelf(url: URL): Promise<boolean>;
  /** How a loaded server is watched; default every 5 s, given up after 3 questions without a good answer. */
  readonly watch?: Watch;
}

interface Watch {
  readonly everyMs: number;
  readonly misses: number;
}

/** Longest time for a farewell, in milliseconds. */
const FAREWELL_MS = 5_000;

const SELF = 'The address of url is this gateway itself.';
const WATCH: Watch = { everyMs: 5_000, misses: 3 };

const over = (reason: string): Ended => ({ code: null, signal: null, reason });

type Parts = AttachRunnerOptions & { readonly launch: LaunchBy<'attach'>; readonly endpoint: Endpoint };

/** A server that somebody else runs: followed and watched, never started or stopped. */
class Attached implements Running {
  readonly pid = null;
  readonly loaded: Promise<Loaded>;
  readonly ended: Promise<Ended>;
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  readonly #ready = Promise.withResolvers<Loaded>();
  #isLoaded = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.loaded = this.#ready.promise;
    this.ended = this.#live();
  }

  progress(): null {
    return null;
  }

  lines(): readonly string[] {
    return [];
  }

  async stop(graceMs: number): Promise<Ended> {
    const followed = !this.#stop.signal.aborted && this.#isLoaded;
    this.#stop.abort(new Error('stopped'));
    if (followed) await this.#sayFarewell(Math.min(graceMs, FAREWELL_MS));
    return this.ended;
  }

  /** What its owner does with the server is not ours to judge: whatever it answers, the slot has let go. */
  async #sayFarewell(limitMs: number): Promise<void> {
    const { ask, endpoint, launch } = this.#parts;
    const { farewell } = launch.how;
    if (farewell === undefined || limitMs <= 0) return;
    const question = { method: 'POST', ...farewell, limitMs } as const;
    await ask(endpoint, question, AbortSignal.timeout(limitMs)).catch(() => {});
  }

  async #live(): Promise<Ended> {
    const { signal } = this.#stop;
    try {
      return over(await this.#untilAway(signal));
    } catch (cause) {
      if (signal.aborted) return over('The slot has let go of the attached server.');
      return over(
        cause instanceof WrongServer ? cause.message : 'The attached server could not be followed.',
      );
    }
  }

  async #untilAway(signal: AbortSignal): Promise<string> {
    const { ask, endpoint, launch, isSelf, watch = WATCH } = this.#parts;
    const { probe, url } = launch.how;
    const address = new URL(url);
    if (await isSelf(address)) return SELF;
    await untilReady({ ask, endpoint, probe, signal });
    // The listener may have opened in between.
    if (await isSelf(address)) return SELF;
    this.#isLoaded = true;
    this.#ready.resolve({ ...loadedAt(launch, endpoint), device: 'remote' });
    for (let missed = 0; missed < watch.misses; ) {
      await pause(watch.everyMs, undefined, { signal });
      const answer = await askProbe(ask, endpoint, probe, signal);
      missed = answer !== null && probeVerdict(probe, answer) === 'ready' ? 0 : missed + 1;
    }
    return 'The attached server no longer answers.';
  }
}

/** Serves slots from addresses that somebody else runs. The key comes from a variable and goes to that address only. */
export function createAttachRunner(options: AttachRunnerOptions): Runner {
  const start = (launch: LaunchBy<'attach'>): Running => {
    const { url, keyVariable } = launch.how;
    const key = keyVariable === null ? null : options.environment(keyVariable);
    if (key === undefined) return neverStarted(`The variable ${keyVariable} that key_env names is not set.`);
    const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
    return new Attached({ ...options, launch, endpoint: { origin: new URL(url).origin, headers } });
  };
  return { id: 'attach', start: (launch) => start(launch as LaunchBy<'attach'>) };
}
