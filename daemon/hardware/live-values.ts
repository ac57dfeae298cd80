import type { Log } from '../lib/log.ts';
import { busyCounters } from './busy-counter.ts';
import { refreshDetails } from './details.ts';
import { clearLiveValues, type DeviceInfo } from './device-facts.ts';
import type { ProbeContext } from './probe.ts';
import { type ProbeProblem, runGuarded } from './run-guarded.ts';

const GOOD_FOR_MS = 5000;

/** Tracks when live values of the devices were read last and refreshes them without a full probe. */
export class LiveValues {
  readonly #context: Pick<ProbeContext, 'tree' | 'tool' | 'limitMs'>;
  readonly #log: Pick<Log, 'debug'>;
  readonly #countBusy = busyCounters();
  #readAt = 0;

  constructor(context: Pick<ProbeContext, 'tree' | 'tool' | 'limitMs'>, log: Pick<Log, 'debug'>) {
    this.#context = context;
    this.#log = log;
  }

  /** Returns whether the values are too old to show. */
  get stale(): boolean {
    return this.ageMs >= GOOD_FOR_MS;
  }

  /** Milliseconds since the last reading. */
  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  /** Marks the values as just read, by a probe or a refresh. */
  markRead(devices: readonly DeviceInfo[]): void {
    this.#readAt = performance.now();
    this.#countBusy(devices, this.#readAt);
  }

  /** Refreshes the values. Never rejects; logs failures. */
  async read(devices: readonly DeviceInfo[]): Promise<void> {
    const { limitMs } = this.#context;
    const problems: ProbeProblem[] = [];
    const work = () => refreshDetails(this.#context, devices);
    await runGuarded('live values', limitMs, work, undefined, problems);
    // Clears values that could not be read, so that no stale value remains.
    if (problems.length > 0) for (const device of devices) clearLiveValues(device);
    for (const problem of problems) this.#log.debug(problem, 'hardware');
    this.markRead(devices);
  }
}
