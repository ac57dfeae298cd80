import type { LaunchBy } from '../engines/engine.ts';
import type { Shared } from '../engines/run-spec.ts';
import { type Ended, type Loaded, neverStarted, type Running } from './runner.ts';

interface Entry {
  readonly run: Running;
  /** What each slot that uses it has claimed. */
  readonly users: Map<object, string | null>;
}

const LEFT: Ended = { code: null, signal: null, reason: 'The slot has left the process that it shared.' };

/** Processes that several slots use at once: the first start brings one up, the last stop ends it. */
export class SharedRuns {
  readonly #entries = new Map<string, Entry>();
  /** The end of the process that had the name before. */
  readonly #before = new Map<string, Promise<unknown>>();

  /** A use of the shared process; `begin` starts it once the one before has ended. */
  join(launch: LaunchBy<'process'>, shared: Shared, begin: (after: Promise<unknown>) => Running): Running {
    const entry = this.#entries.get(shared.name) ?? this.#begin(shared.name, begin);
    const held = [...entry.users.values()].find((claim) => claim !== null) ?? null;
    if (held !== null && shared.claim !== null && held !== shared.claim) {
      return neverStarted(
        `${shared.name} serves ${held} for another slot and can serve one such model only; unload that slot first.`,
      );
    }
    return this.#use(entry, launch, shared);
  }

  #begin(name: string, begin: (after: Promise<unknown>) => Running): Entry {
    const run = begin(this.#before.get(name) ?? Promise.resolve());
    const entry: Entry = { run, users: new Map() };
    this.#entries.set(name, entry);
    this.#before.set(name, run.ended);
    void run.ended.then(() => this.#forget(name, entry));
    return entry;
  }

  #forget(name: string, entry: Entry): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }

  #use(entry: Entry, launch: LaunchBy<'process'>, { name, claim }: Shared): Running {
    const { run, users } = entry;
    const user = {};
    users.set(user, claim);
    const left = Promise.withResolvers<Ended>();
    const ended = Promise.race([run.ended, left.promise]);
    const { context, parallel, threads } = launch;
    return {
      get pid() {
        return run.pid;
      },
      loaded: run.loaded.then((loaded): Loaded => ({ ...loaded, context, parallel, threads })),
      ended,
      progress: () => run.progress(),
      lines: () => run.lines(),
      stop: (graceMs) => {
        const was = users.delete(user);
        if (users.size > 0) left.resolve(LEFT);
        else {
          if (was) this.#forget(name, entry);
          void run.stop(graceMs).then(left.resolve);
        }
        return ended;
      },
    };
  }
}
