import { type ProcessMemory, processTreeMemory } from '../../lib/process/process-memory.ts';
import type { Clock } from '../lifecycle/clock.ts';

/** Maximum age of a sample. Reading one takes about 30 µs, and slot records are read often. */
const MAX_AGE_MS = 2_000;
const MAX_PIDS = 512;

/** Memory of processes by pid, read at most once in two seconds per process. */
export class MemorySample {
  readonly #clock: Clock;
  readonly #read: (pid: number) => ProcessMemory | null;
  readonly #samples = new Map<number, { at: number; memory: ProcessMemory | null }>();

  constructor(clock: Clock, read: (pid: number) => ProcessMemory | null = (pid) => processTreeMemory(pid)) {
    this.#clock = clock;
    this.#read = read;
  }

  of(pid: number): ProcessMemory | null {
    const now = this.#clock.now();
    const known = this.#samples.get(pid);
    if (known !== undefined && now - known.at < MAX_AGE_MS) return known.memory;
    if (this.#samples.size >= MAX_PIDS) this.#samples.clear();
    const memory = this.#read(pid);
    this.#samples.set(pid, { at: now, memory });
    return memory;
  }
}
