import type { ProcessMemory } from '../../lib/process/process-memory.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import type { Measurements } from './measured-memory.ts';
import { HOST_POOL, mappedBytes, onCpu, poolOf } from './memory-use.ts';

/** Delay of a measurement after a request, so that it does not slow the response. */
const MEASURE_DELAY_MS = 100;
/**
 * Interval of the measurements of an engine that serves: the first one, doubled up to the last one while nothing
 * grows. A measurement may take this share of the time at most, because the kernel walks all page tables of the
 * engine, and the tool of a card is a separate program.
 */
const MIN_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 60_000;
const MAX_TIME_SHARE = 0.01;

/**
 * Returns the bytes that an engine on the CPU takes: its anonymous memory, its weights in full, because mapped
 * pages that are not resident yet will be, and the resident pages of other files. llama.cpp repacks most weights of
 * some formats into anonymous memory and then never reads their file again, so anonymous memory plus weights counts
 * only up to the estimate.
 */
export function footprint(
  { resident, anonymous }: ProcessMemory,
  { mapped: weightBytes, estimatedBytes }: { readonly mapped: number; readonly estimatedBytes: number },
): number {
  const otherFiles = Math.max(0, resident - anonymous - weightBytes);
  return Math.max(anonymous, Math.min(anonymous + weightBytes, estimatedBytes)) + otherFiles;
}

/**
 * Returns whether some layers are in host memory, so that the card holds less than the whole launch would take
 * there.
 */
const isSplit = ({ loaded }: Readonly<EngineRun>): boolean =>
  loaded?.layers !== undefined && loaded.layers.placed < loaded.layers.total;

/**
 * Returns whether the memory of an engine can be distinguished: not with a part of it on a card, not of mapped weights on
 * a GPU with unified memory, and not of a process that serves several slots.
 */
function isDistinguishable(current: Readonly<EngineRun>): boolean {
  const { how } = current.launch;
  if (how.runner === 'process' && how.shared !== null) return false;
  if (poolOf(current) !== HOST_POOL) return !isSplit(current);
  return onCpu(current) || mappedBytes(current) === 0;
}

/** Reads the memory of an engine including all its child processes. Never rejects. */
export interface MemoryReaders {
  /** Returns what the processes take of the host; null when they have ended. */
  measureMemory(pid: number): Promise<ProcessMemory | null>;
  /** Returns the bytes on a card; null where the machine does not report them. */
  cardMemoryOf(pid: number, card: string): Promise<number | null>;
  /** Returns whether an engine serves a request now. */
  isServing(current: Readonly<EngineRun>): boolean;
}

/** The measurements of one engine. */
interface Sampling {
  /** Unix milliseconds from which on it may be measured again. */
  dueAt: number;
  intervalMs: number;
  /** Whether it is being followed while it serves. */
  isFollowed: boolean;
}

/**
 * Measures engines while and after they serve, so that admission knows their real memory at the next load
 * (docs/spec/contract.md#admission).
 */
export class Footprints {
  readonly #clock: Clock;
  readonly #measurements: Measurements;
  readonly #readers: MemoryReaders;
  readonly #samplings = new WeakMap<object, Sampling>();

  constructor(clock: Clock, measurements: Measurements, readers: MemoryReaders) {
    this.#clock = clock;
    this.#measurements = measurements;
    this.#readers = readers;
  }

  /** Records the load time of an engine that has become ready. */
  ready({ launch, pool, weightBytes, startedAt, readySince }: Readonly<EngineRun>): void {
    if (readySince !== null)
      this.#measurements.recordLoadMs(launch, pool, weightBytes, readySince - startedAt);
  }

  /** Measures an engine at intervals from its first request until it is idle. */
  serving(current: Readonly<EngineRun>): void {
    const sampling = this.#samplingOf(current);
    if (sampling === null || sampling.isFollowed) return;
    sampling.isFollowed = true;
    this.#follow(current, sampling);
  }

  /** Schedules a measurement after a request. */
  served(current: Readonly<EngineRun>): void {
    const sampling = this.#samplingOf(current);
    const now = this.#clock.now();
    if (sampling === null || now < sampling.dueAt) return;
    sampling.dueAt = now + sampling.intervalMs;
    this.#clock.after(MEASURE_DELAY_MS, () => void this.#measure(current, sampling));
  }

  #follow(current: Readonly<EngineRun>, sampling: Sampling): void {
    const wait = Math.max(MIN_INTERVAL_MS, sampling.dueAt - this.#clock.now());
    this.#clock.after(wait, () => {
      sampling.isFollowed = this.#readers.isServing(current);
      if (!sampling.isFollowed) return;
      this.served(current);
      this.#follow(current, sampling);
    });
  }

  /**
   * Returns the measurements of an engine; null for one that is not measured.
   */
  #samplingOf(current: Readonly<EngineRun>): Sampling | null {
    const { running } = current;
    if (running.pid === null || !isDistinguishable(current)) return null;
    const known = this.#samplings.get(running);
    if (known !== undefined) return known;
    const first = { dueAt: Number.NEGATIVE_INFINITY, intervalMs: MIN_INTERVAL_MS, isFollowed: false };
    this.#samplings.set(running, first);
    return first;
  }

  async #measure(current: Readonly<EngineRun>, sampling: Sampling): Promise<void> {
    const { launch, weightBytes } = current;
    const pool = poolOf(current);
    const dueSince = sampling.dueAt - sampling.intervalMs;
    const startedAt = this.#clock.now();
    const bytes = await this.#read(current, pool);
    const now = this.#clock.now();
    const hasGrown = bytes !== null && this.#measurements.recordBytes(launch, pool, weightBytes, bytes);
    const next = hasGrown ? MIN_INTERVAL_MS : 2 * sampling.intervalMs;
    const slowest = (now - startedAt) / MAX_TIME_SHARE;
    sampling.intervalMs = Math.min(MAX_INTERVAL_MS, Math.max(next, slowest));
    sampling.dueAt = dueSince + sampling.intervalMs;
  }

  /** Reads the bytes of the host that an engine takes through a GPU with unified memory; null when unknown. */
  async #sharedWithGpu({ loaded }: Readonly<EngineRun>, pid: number): Promise<number | null> {
    return loaded?.device === 'cpu' ? 0 : this.#readers.cardMemoryOf(pid, HOST_POOL);
  }

  /** Reads the bytes in the pool in which the engine runs, even where admission had expected another one. */
  async #read(current: Readonly<EngineRun>, pool: string): Promise<number | null> {
    const { pid } = current.running;
    if (pid === null) return null;
    if (pool !== HOST_POOL) return (await this.#readers.cardMemoryOf(pid, pool)) || null;
    const memory = await this.#readers.measureMemory(pid);
    if (memory === null) return null;
    const shared = await this.#sharedWithGpu(current, pid);
    return shared === null
      ? null
      : footprint(memory, { mapped: mappedBytes(current), estimatedBytes: current.estimatedBytes }) + shared;
  }
}
