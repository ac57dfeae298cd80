import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { runCommand } from '../lib/process/run-command.ts';
import { asRecord, looseNumber, parseJson } from './tools.ts';

const PROGRAM = fileURLToPath(new URL('./bandwidth-main.ts', import.meta.url));
const LIMITS = { timeoutMs: 20_000, maxBytes: 4096 };
/** More readers do not make memory faster. */
const MAX_READERS = 8;
const KEY = 'hardware.memory_bandwidth';

export interface MemoryBandwidthDeps {
  readonly store: { get(key: string): string | null; set(key: string, value: string): void };
  readonly cores: number;
  /** Identifies the machine: another one is measured again. */
  machine(): string;
  readonly signal?: AbortSignal;
  /** Measures one reader; for tests. */
  read?(): Promise<number | null>;
}

/** Measures one reader in a child process. Null when it fails. */
async function readInChild(signal?: AbortSignal): Promise<number | null> {
  const { stdout } = await runCommand(process.execPath, [PROGRAM], {
    ...LIMITS,
    signal,
    env: compileCacheEnv(),
  });
  return looseNumber(asRecord(parseJson(stdout.trim())).bytesPerSecond);
}

/**
 * How fast the processor reads the memory of this machine. It is measured once, for less than a second, and stored
 * (docs/spec/contract.md#expected-speed).
 */
export class MemoryBandwidth {
  readonly #deps: MemoryBandwidthDeps;
  #running: Promise<void> | null = null;

  constructor(deps: MemoryBandwidthDeps) {
    this.#deps = deps;
  }

  /** Returns bytes per second; null before the measurement, which the first call starts. */
  current(): number | null {
    const known = this.#stored();
    if (known === null) void this.ready();
    return known;
  }

  /** Resolves when the value is known, or when the measurement has failed. Never rejects. */
  async ready(): Promise<void> {
    if (this.#stored() !== null) return;
    this.#running ??= this.#measure();
    await this.#running;
  }

  #stored(): number | null {
    const { machine, bytes_per_second: bytes } = asRecord(parseJson(this.#deps.store.get(KEY) ?? ''));
    return machine === this.#deps.machine() && typeof bytes === 'number' && bytes > 0 ? bytes : null;
  }

  async #measure(): Promise<void> {
    const { cores, store, machine, signal, read = () => readInChild(signal) } = this.#deps;
    const readers = Array.from({ length: Math.max(1, Math.min(cores, MAX_READERS)) }, read);
    const rates = await Promise.all(readers).catch(() => []);
    const sum = rates.reduce<number>((all, rate) => all + (rate ?? 0), 0);
    if (sum <= 0) return;
    store.set(KEY, JSON.stringify({ machine: machine(), bytes_per_second: Math.round(sum) }));
  }
}
