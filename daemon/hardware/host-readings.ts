import type { DiskRecord, NetworkRecord } from '../contract/hardware.ts';
import {
  cpuValuesOf,
  disksOf,
  networksOf,
  runSysinfo,
  type Subject,
  type Sysinfo,
  swapOf,
} from './sysinfo.ts';

/** Values of the host that change. Null: not read yet, or not reported. */
export interface HostReadings {
  cpuBusyPercent: number | null;
  cpuTemperatureC: number | null;
  swap: { totalBytes: number; usedBytes: number } | null;
  disks: DiskRecord[] | null;
  networks: NetworkRecord[] | null;
}

/** One child program: what it reads and how long the values are valid. Disks have a separate child: `df` can hang. */
const GROUPS: readonly { subjects: readonly Subject[]; validMs: number }[] = [
  { subjects: ['load', 'temperature', 'memory'], validMs: 5000 },
  { subjects: ['network'], validMs: 60_000 },
  { subjects: ['disks'], validMs: 60_000 },
];
/** A response waits this long for the first values. Later ones appear in the next response. */
const WAIT_MS = 1500;

/** Runs the child; replaced in tests. */
export type ReadSubjects = (
  subjects: readonly Subject[],
) => Promise<{ values: Sysinfo; leftBehind?: Promise<void> | undefined }>;

class Group {
  readonly #subjects: readonly Subject[];
  readonly #validMs: number;
  readonly #read: ReadSubjects;
  #values: Sysinfo = {};
  #readAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor({ subjects, validMs }: (typeof GROUPS)[number], read: ReadSubjects) {
    this.#subjects = subjects;
    this.#validMs = validMs;
    this.#read = read;
  }

  /** The last values. Empty when they are more than three intervals old. */
  get values(): Sysinfo {
    return performance.now() - this.#readAt > 3 * this.#validMs ? {} : this.#values;
  }

  /** Starts a read when the values are no longer valid. Returns the read under way; null when there is none. */
  refresh(): Promise<void> | null {
    if (this.#running === null && performance.now() - this.#readAt >= this.#validMs)
      this.#running = this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { values, leftBehind } = await this.#read(this.#subjects);
    this.#values = values;
    this.#readAt = performance.now();
    const release = () => {
      this.#running = null;
    };
    // No second child starts while the kernel blocks the first.
    if (leftBehind === undefined) release();
    else void leftBehind.then(release);
  }
}

/** Reads load, temperature, swap, network and disks of the host on demand, each at its own interval. */
export class HostReader {
  readonly #groups: readonly Group[];

  constructor(
    path: string,
    signal: AbortSignal,
    read: ReadSubjects = (subjects) => runSysinfo(subjects, path, signal),
  ) {
    this.#groups = GROUPS.map((group) => new Group(group, read));
  }

  /** Refreshes outdated values. Resolves when they are read, at the latest after 1.5 s. Never rejects. */
  async refresh(): Promise<void> {
    const running = this.#groups.map((group) => group.refresh()).filter((read) => read !== null);
    if (running.length === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS);
    });
    await Promise.race([Promise.all(running), limit]);
    clearTimeout(timer);
  }

  /** Returns the last values. Starts nothing. */
  last(): HostReadings {
    const values: Sysinfo = Object.assign({}, ...this.#groups.map((group) => group.values));
    const { busyPercent, temperatureC } = cpuValuesOf(values);
    return {
      cpuBusyPercent: busyPercent,
      cpuTemperatureC: temperatureC,
      swap: swapOf(values),
      disks: values.disks === undefined ? null : disksOf(values),
      networks: values.network === undefined ? null : networksOf(values),
    };
  }
}
