import { useSyncExternalStore } from 'react';
import { type FailurePicture, toPicture } from '../../../api/api-error.ts';
import { beginWork } from '../../../api/under-way.ts';

export interface JobState<R> {
  readonly phase: 'idle' | 'running' | 'done' | 'stopped' | 'failed';
  /** The last result; it stays until a new one comes. */
  readonly result: R | null;
  readonly failure: FailurePicture | null;
  /** Unix milliseconds of the last start. */
  readonly since: number;
}

/** Parts of a result are put on the screen together, at most this often. */
const FLUSH_MS = 40;

/** The one request of a mode. It lives outside the view, so that it goes on while another view is open. */
export class Job<R> {
  readonly #listeners = new Set<() => void>();
  #now: JobState<R> = { phase: 'idle', result: null, failure: null, since: 0 };
  #abort: AbortController | null = null;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly get = (): JobState<R> => this.#now;

  #set(change: Partial<JobState<R>>): void {
    this.#now = { ...this.#now, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Starts the work unless some is going on. `tell` shows a result that is not complete yet. Never rejects. */
  async run(work: (signal: AbortSignal, tell: (result: R) => void) => Promise<R>): Promise<void> {
    if (this.#abort !== null) return;
    const abort = new AbortController();
    this.#abort = abort;
    const endWork = beginWork();
    this.#set({ phase: 'running', failure: null, since: Date.now() });
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: R | null = null;
    const tell = (result: R): void => {
      last = result;
      timer ??= setTimeout(() => {
        timer = undefined;
        this.#set({ result: last });
      }, FLUSH_MS);
    };
    const end = await work(abort.signal, tell).then(
      (result) => ({ phase: 'done', result }) as const,
      (error: unknown) =>
        abort.signal.aborted
          ? ({ phase: 'stopped' } as const)
          : ({ phase: 'failed', failure: toPicture(error) } as const),
    );
    clearTimeout(timer);
    endWork();
    this.#abort = null;
    this.#set(last === null ? end : { result: last, ...end });
  }

  /** Ends the work; the gateway then stops the engine's. */
  stop(): void {
    this.#abort?.abort();
  }
}

/** The job, live. */
export function useJob<R>(job: Job<R>): JobState<R> {
  return useSyncExternalStore(job.subscribe, job.get);
}
