import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { runCommand } from '../lib/process/run-command.ts';
import { asRecord, looseNumber, parseJson } from './tools.ts';

const PROGRAM = fileURLToPath(new URL('./bandwidth-main.ts', import.meta.url));
const LIMITS = { timeoutMs: 20_000, maxBytes: 4096 };
/** Time for the readers to start and to fill their buffers, so that they read at the same time. */
const START_MS = 300;
/** More readers do not make memory faster. */
const MAX_READERS = 8;
const KEY = 'hardware.memory_bandwidth';
/** No memory of a supported computer is slower: one channel of the slowest DDR3 has 6.4 GB/s. */
const MIN_PLAUSIBLE = 3e9;
/** A value of a busy machine is measured again after this time, and at the next start. */
const AGAIN_MS = 4 * 3_600_000;
/** A failed measurement is repeated after this time. */
const RETRY_MS = 60_000;

export interface Reading {
  readonly bytesPerSecond: number;
  /** Whether no other work disturbed the measurement. */
  readonly idle: boolean;
}

export interface MemoryBandwidthDeps {
  readonly store: { get(key: string): string | null; set(key: string, value: string): void };
  readonly cores: number;
  /** Identifies the machine: another one is measured again. Null before it is known. */
  machine(): string | null;
  readonly signal?: AbortSignal;
  now?(): number;
  /** Measures one reader; for tests. */
  read?(): Promise<Reading | null>;
}

/** Measures one reader, which begins at `beginAt`, in a child process. Null when it fails. */
async function readInChild(beginAt: number, signal?: AbortSignal): Promise<Reading | null> {
  const { stdout } = await runCommand(process.execPath, [PROGRAM, String(beginAt)], {
    ...LIMITS,
    signal,
    env: compileCacheEnv(),
  });
  const { bytesPerSecond, idle } = asRecord(parseJson(stdout.trim()));
  const bytes = looseNumber(bytesPerSecond);
  return bytes === null || bytes <= 0 ? null : { bytesPerSecond: bytes, idle: idle === true };
}

/**
 * How fast the processor reads the memory of this machine. It is measured for less than a second and stored with its
 * conditions (docs/spec/contract.md#expected-speed). The value of an idle machine is final. Until then it is measured
 * again at each start and every few hours, and the highest value counts.
 */
export class MemoryBandwidth {
  readonly #deps: MemoryBandwidthDeps;
  readonly #now: () => number;
  #running: Promise<void> | null = null;
  /** When the last measurement of this process ended. */
  #endedAt: number | null = null;

  constructor(deps: MemoryBandwidthDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
  }

  /** Returns bytes per second; null before the first measurement. Starts a measurement that is due. */
  current(): number | null {
    this.#start();
    return this.#stored()?.bytesPerSecond ?? null;
  }

  /** Resolves after a measurement that is due, with whether the value is known. Never rejects. */
  async ready(): Promise<boolean> {
    await this.#start();
    return this.#stored() !== null;
  }

  #stored(): Reading | null {
    const stored = asRecord(parseJson(this.#deps.store.get(KEY) ?? ''));
    const { machine, bytes_per_second: bytes, idle } = stored;
    if (machine !== this.#deps.machine() || typeof bytes !== 'number' || bytes <= 0) return null;
    return { bytesPerSecond: bytes, idle: idle === true && bytes >= MIN_PLAUSIBLE };
  }

  #isDue(): boolean {
    if (this.#deps.machine() === null) return false;
    const stored = this.#stored();
    if (stored?.idle) return false;
    if (this.#endedAt === null) return true;
    return this.#now() - this.#endedAt >= (stored === null ? RETRY_MS : AGAIN_MS);
  }

  #start(): Promise<void> | null {
    if (this.#running === null && this.#isDue())
      this.#running = this.#measure().finally(() => {
        this.#running = null;
        this.#endedAt = this.#now();
      });
    return this.#running;
  }

  async #measure(): Promise<void> {
    const { cores, store, machine, signal } = this.#deps;
    const beginAt = Date.now() + START_MS;
    const { read = () => readInChild(beginAt, signal) } = this.#deps;
    const measuredMachine = machine();
    const [load = 0] = loadavg();
    const readers = Array.from({ length: Math.max(1, Math.min(cores, MAX_READERS)) }, read);
    const readings = await Promise.all(readers).catch(() => []);
    const sum = Math.round(readings.reduce((all, reading) => all + (reading?.bytesPerSecond ?? 0), 0));
    if (sum <= 0) return;
    const idle = readings.every((reading) => reading?.idle);
    const before = this.#stored();
    if (!idle && before !== null && before.bytesPerSecond >= sum) return;
    store.set(
      KEY,
      JSON.stringify({
        machine: measuredMachine,
        bytes_per_second: sum,
        measured_at: new Date(this.#now()).toISOString(),
        load: Number(load.toFixed(2)),
        idle,
      }),
    );
  }
}
