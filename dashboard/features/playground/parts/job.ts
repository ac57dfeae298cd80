import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { type FailureInfo, toFailureInfo } from '../../../api/api-error.ts';
import { beginWork } from '../../../api/busy.ts';

export interface JobState<R> {
  readonly phase: 'idle' | 'running' | 'done' | 'stopped' | 'failed';
  /** The last result; stays until the next one arrives. */
  readonly result: R | null;
  readonly failure: FailureInfo | null;
  /** Unix milliseconds of the last start. */
  readonly since: number;
}

/** Throttles updates of a partial result. */
const FLUSH_MS = 40;

/** The request of a mode. Lives outside the view, so that it continues while another view is open. */
export class Job<R> {
  readonly state = createStore<JobState<R>>(() => ({ phase: 'idle', result: null, failure: null, since: 0 }));
  #abort: AbortController | null = null;

  readonly get = this.state.getState;

  /** Starts the work unless one is running. `report` publishes a partial result. Never rejects. */
  async run(work: (signal: AbortSignal, report: (result: R) => void) => Promise<R>): Promise<void> {
    if (this.#abort !== null) return;
    const abort = new AbortController();
    this.#abort = abort;
    const endWork = beginWork();
    this.state.setState({ phase: 'running', failure: null, since: Date.now() });
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: R | null = null;
    const report = (result: R): void => {
      last = result;
      timer ??= setTimeout(() => {
        timer = undefined;
        this.state.setState({ result: last });
      }, FLUSH_MS);
    };
    const end = await work(abort.signal, report).then(
      (result) => ({ phase: 'done', result }) as const,
      (error: unknown) =>
        abort.signal.aborted
          ? ({ phase: 'stopped' } as const)
          : ({ phase: 'failed', failure: toFailureInfo(error) } as const),
    );
    clearTimeout(timer);
    endWork();
    this.#abort = null;
    this.state.setState(last === null ? end : { result: last, ...end });
  }

  /** Aborts the request; the gateway then stops the engine. */
  stop(): void {
    this.#abort?.abort();
  }
}

/** Subscribes to the job. */
export function useJob<R>(job: Job<R>): JobState<R> {
  return useStore(job.state);
}
