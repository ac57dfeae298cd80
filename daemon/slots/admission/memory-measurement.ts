import type { ProcessMemory } from '../../lib/process/process-identity.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import type { Measurements } from './measured-memory.ts';
import { HOST_POOL, poolOf } from './memory-use.ts';

/**
 * Delay of a measurement after a request, so that it does not slow the response, and the minimum interval between
 * two measurements of an engine.
 */
const MEASURE_DELAY_MS = 100;
const MEASURE_INTERVAL_MS = 60_000;

/**
 * Returns the bytes that an engine on the CPU takes: its anonymous memory, its weights in full, because mapped
 * pages that are not resident yet will be, and the resident pages of other files. llama.cpp repacks most weights of
 * some formats into anonymous memory and then never reads their file again, so anonymous memory plus weights counts
 * only up to the estimate.
 */
export function footprint(
  { resident, anonymous }: ProcessMemory,
  { weightBytes, estimatedBytes }: Pick<EngineRun, 'weightBytes' | 'estimatedBytes'>,
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

/** Reads the memory of an engine including all its child processes. */
export interface MemoryReaders {
  familyMemoryOf(pid: number): ProcessMemory | null;
  /** Returns the bytes on a card; null where the machine does not report them. Never rejects. */
  cardMemoryOf(pid: number, card: string): Promise<number | null>;
}

/**
 * Measures engines that have served, so that admission knows their real memory at the next load
 * (docs/spec/contract.md#admission).
 */
export class Footprints {
  readonly #clock: Clock;
  readonly #measurements: Measurements;
  readonly #readers: MemoryReaders;
  readonly #measuredAt = new WeakMap<object, number>();

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

  /**
   * Schedules a measurement after a request. Skips engines in host memory that do not run on the CPU, because their
   * memory cannot be distinguished.
   */
  served(current: Readonly<EngineRun>): void {
    const now = this.#clock.now();
    const { pid } = current.running;
    const last = this.#measuredAt.get(current.running) ?? Number.NEGATIVE_INFINITY;
    if (pid === null || now - last < MEASURE_INTERVAL_MS) return;
    const onCard = poolOf(current) !== HOST_POOL;
    if (onCard ? isSplit(current) : current.loaded?.device !== 'cpu') return;
    this.#measuredAt.set(current.running, now);
    this.#clock.after(MEASURE_DELAY_MS, () => {
      if (onCard) void this.#measureCard(current, pid);
      else this.#measure(current, pid);
    });
  }

  /** Records the result for the host pool, even where admission had expected a card. */
  #measure(current: Readonly<EngineRun>, pid: number): void {
    const memory = this.#readers.familyMemoryOf(pid);
    if (memory === null) return;
    this.#measurements.recordBytes(
      current.launch,
      HOST_POOL,
      current.weightBytes,
      footprint(memory, current),
    );
  }

  async #measureCard({ launch, pool, weightBytes }: Readonly<EngineRun>, pid: number): Promise<void> {
    const bytes = await this.#readers.cardMemoryOf(pid, pool);
    if (bytes !== null && bytes > 0) this.#measurements.recordBytes(launch, pool, weightBytes, bytes);
  }
}
