import type { ProcessMemory } from '../../lib/process/process-identity.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import type { Measurements } from './measured-memory.ts';
import { HOST_POOL, poolOf } from './memory-use.ts';

/** An engine is measured a moment after a request, off the way of its answer, and then at most this often. */
const MEASURE_DELAY_MS = 100;
const MEASURE_INTERVAL_MS = 60_000;

/**
 * Bytes that an engine on the CPU takes: what no file backs, its weights in full, because mapped pages that were not touched
 * yet will be, and what is resident of other files. llama.cpp lays most weights of some formats out anew in memory of its
 * own, and the pages of their file are then read once and never again: the file counts no further than up to the estimate.
 */
export function footprint(
  { resident, anonymous }: ProcessMemory,
  { weightBytes, estimatedBytes }: Pick<EngineRun, 'weightBytes' | 'estimatedBytes'>,
): number {
  const otherFiles = Math.max(0, resident - anonymous - weightBytes);
  return Math.max(anonymous, Math.min(anonymous + weightBytes, estimatedBytes)) + otherFiles;
}

/** Whether a part of the layers lies on the machine's memory, so that the card holds less than the launch would take there. */
const isSplit = ({ loaded }: Readonly<EngineRun>): boolean =>
  loaded?.layers !== undefined && loaded.layers.placed < loaded.layers.total;

/** Where the memory of an engine, with all that it started, is read. */
export interface MemoryReaders {
  familyMemoryOf(pid: number): ProcessMemory | null;
  /** Bytes on a card; null where the machine does not tell. Never rejects. */
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

  /** An engine has become ready. */
  ready({ launch, pool, weightBytes, startedAt, readySince }: Readonly<EngineRun>): void {
    if (readySince !== null)
      this.#measurements.recordLoadMs(launch, pool, weightBytes, readySince - startedAt);
  }

  /** A request of this engine has ended. What is on the machine's memory without being on the processor is not told apart. */
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

  /** It is remembered for the machine's memory, also where admission had expected a card. */
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
