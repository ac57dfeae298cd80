import type { Log } from '../lib/log.ts';
import { busyCounters } from './busy-counter.ts';
import { refreshDetails } from './details.ts';
import { clearLiveValues, type DeviceFacts } from './facts.ts';
import { type ProbeProblem, runGuarded } from './guarded.ts';
import type { ProbeContext } from './probe.ts';

const GOOD_FOR_MS = 5000;

/** What changes on devices from moment to moment: when it was read last, and how it is read anew without a whole probe. */
export class LiveValues {
  readonly #context: Pick<ProbeContext, 'tree' | 'tool' | 'limitMs'>;
  readonly #log: Pick<Log, 'debug'>;
  readonly #countBusy = busyCounters();
  #readAt = 0;

  constructor(context: Pick<ProbeContext, 'tree' | 'tool' | 'limitMs'>, log: Pick<Log, 'debug'>) {
    this.#context = context;
    this.#log = log;
  }

  /** Whether they are too old to be shown. */
  get stale(): boolean {
    return performance.now() - this.#readAt >= GOOD_FOR_MS;
  }

  /** They were read a moment ago, by a probe or here. */
  markRead(devices: readonly DeviceFacts[]): void {
    this.#readAt = performance.now();
    this.#countBusy(devices, this.#readAt);
  }

  /** Reads them anew. Never rejects; what went wrong is told in the log. */
  async read(devices: readonly DeviceFacts[]): Promise<void> {
    const { limitMs } = this.#context;
    const problems: ProbeProblem[] = [];
    const work = () => refreshDetails(this.#context, devices);
    await runGuarded('live values', limitMs, work, undefined, problems);
    // What could not be read is unknown, not as it was.
    if (problems.length > 0) for (const device of devices) clearLiveValues(device);
    for (const problem of problems) this.#log.debug(problem, 'hardware');
    this.markRead(devices);
  }
}
