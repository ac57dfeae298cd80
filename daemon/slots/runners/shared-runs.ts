import type { LaunchFor } from '../engines/engine.ts';
import type { SharedProcess } from '../engines/run-spec.ts';
import { type EngineExit, failedStart, type LoadedEngine, type RunningEngine } from './runner.ts';

interface Entry {
  readonly run: RunningEngine;
  /** The claim of each slot that uses it. */
  readonly users: Map<object, string | null>;
}

const LEFT_EXIT: EngineExit = {
  code: null,
  signal: null,
  reason: 'The slot has left the process that it shared.',
};

/** Processes that several slots share: the first start starts one, the last stop ends it. */
export class SharedRuns {
  readonly #entries = new Map<string, Entry>();
  /** The exit of the previous process of each name. */
  readonly #previousExits = new Map<string, Promise<unknown>>();

  /** Adds a user of the shared process. `start` starts it after the previous one has ended. */
  join(
    launch: LaunchFor<'process'>,
    shared: SharedProcess,
    start: (after: Promise<unknown>) => RunningEngine,
  ): RunningEngine {
    const entry = this.#entries.get(shared.name) ?? this.#start(shared.name, start);
    const held = [...entry.users.values()].find((claim) => claim !== null) ?? null;
    if (held !== null && shared.claim !== null && held !== shared.claim) {
      return failedStart(
        `${shared.name} serves ${held} for another slot and can serve one such model only; unload that slot first.`,
      );
    }
    return this.#use(entry, launch, shared);
  }

  #start(name: string, start: (after: Promise<unknown>) => RunningEngine): Entry {
    const run = start(this.#previousExits.get(name) ?? Promise.resolve());
    const entry: Entry = { run, users: new Map() };
    this.#entries.set(name, entry);
    this.#previousExits.set(name, run.ended);
    void run.ended.then(() => this.#removeEntry(name, entry));
    return entry;
  }

  #removeEntry(name: string, entry: Entry): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }

  #use(entry: Entry, launch: LaunchFor<'process'>, { name, claim }: SharedProcess): RunningEngine {
    const { run, users } = entry;
    const user = {};
    users.set(user, claim);
    const left = Promise.withResolvers<EngineExit>();
    const ended = Promise.race([run.ended, left.promise]);
    const { context, parallel, threads } = launch;
    return {
      get pid() {
        return run.pid;
      },
      loaded: run.loaded.then((loaded): LoadedEngine => ({ ...loaded, context, parallel, threads })),
      ended,
      progress: () => run.progress(),
      lines: () => run.lines(),
      linesSince: (time) => run.linesSince?.(time) ?? [],
      stop: (graceMs) => {
        const wasUser = users.delete(user);
        if (users.size > 0) left.resolve(LEFT_EXIT);
        else {
          if (wasUser) this.#removeEntry(name, entry);
          void run.stop(graceMs).then(left.resolve);
        }
        return ended;
      },
    };
  }
}
