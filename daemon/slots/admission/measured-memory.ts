import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { TextStore } from '../binding/stored-bindings.ts';
import type { Launch } from '../engines/engine.ts';

/** Launches that are remembered; the one that was measured longest ago is forgotten first. */
const MAX_ENTRIES = 512;
/** A measurement that differs less from the known one is not written again. */
const MIN_CHANGE = 0.02;
/** A disk reads at least this many bytes per millisecond; a guess until a load was measured. */
const BYTES_PER_MS = 500_000;

const Measurement = z.object({
  /** Size of the model when it was measured; another size is another model. */
  size: z.number(),
  /** Most bytes that the launch was seen to take; null when that could not be seen. */
  most_bytes: z.number().nullable(),
  /** Milliseconds of the last load. */
  load_ms: z.number().nullable(),
});
type Measurement = z.infer<typeof Measurement>;
const StoredMeasurements = z.record(z.string(), Measurement);

/** The arguments of a program of somebody else, as a short text. */
function argumentsOf({ how }: Launch): string {
  if (!('args' in how)) return '';
  return `#${createHash('sha256').update(JSON.stringify(how.args)).digest('base64url').slice(0, 12)}`;
}

/** What decides the memory of a launch, as one text. */
export const measureKey = (launch: Launch, pool: string): string =>
  [
    launch.modelId,
    `${launch.engine}${argumentsOf(launch)}`,
    `${launch.device}@${pool}`,
    `${launch.context}x${launch.sequences}`,
    launch.parallel,
    launch.batch,
  ].join('|');

/** The pool of a key; null for one that is none of ours. */
const poolOfKey = (key: string): string | null =>
  /^.*\|[^|]*@([^|@]+)\|[^|]*\|\d+\|\d+$/.exec(key)?.[1] ?? null;

function read(text: string | null): Map<string, Measurement> {
  try {
    const stored = StoredMeasurements.safeParse(JSON.parse(text ?? '{}'));
    return new Map(stored.success ? Object.entries(stored.data) : []);
  } catch {
    return new Map();
  }
}

const differs = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a !== b : Math.abs(a - b) > MIN_CHANGE * Math.max(a, b);

/** What launches took and how long they loaded on this machine, kept over restarts. */
export class Measurements {
  readonly #store: TextStore | undefined;
  readonly #entries: Map<string, Measurement>;

  constructor(stored?: TextStore) {
    this.#store = stored;
    this.#entries = read(stored?.get() ?? null);
  }

  /** Bytes that this launch took; null when it was never measured. */
  bytes(launch: Launch, pool: string, size: number): number | null {
    return this.#of(measureKey(launch, pool), size).most_bytes;
  }

  /** The most bytes that any launch of a model took, by pool. */
  ofModel(modelId: string): Record<string, number> {
    const max: Record<string, number> = {};
    for (const [key, { most_bytes: bytes }] of this.#entries) {
      if (bytes === null || !key.startsWith(`${modelId}|`)) continue;
      const pool = poolOfKey(key);
      if (pool !== null) max[pool] = Math.max(bytes, max[pool] ?? 0);
    }
    return max;
  }

  /** Milliseconds that loading it again takes: as last time, else by the size of the model. */
  loadMs(launch: Launch, pool: string, size: number): number {
    return this.#of(measureKey(launch, pool), size).load_ms ?? Math.ceil(size / BYTES_PER_MS);
  }

  /** A launch was seen to take so many bytes; the most that was ever seen counts. */
  recordBytes(launch: Launch, pool: string, size: number, bytes: number): void {
    const key = measureKey(launch, pool);
    const before = this.#of(key, size);
    this.#save(key, before, { ...before, most_bytes: Math.max(bytes, before.most_bytes ?? 0) });
  }

  /** A launch was loaded in so many milliseconds. */
  recordLoadMs(launch: Launch, pool: string, size: number, loadMs: number): void {
    const key = measureKey(launch, pool);
    const before = this.#of(key, size);
    this.#save(key, before, { ...before, load_ms: loadMs });
  }

  #of(key: string, size: number): Measurement {
    const known = this.#entries.get(key);
    return known?.size === size ? known : { size, most_bytes: null, load_ms: null };
  }

  #save(key: string, before: Measurement, now: Measurement): void {
    if (!differs(before.most_bytes, now.most_bytes) && !differs(before.load_ms, now.load_ms)) return;
    this.#entries.delete(key);
    this.#entries.set(key, now);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
    this.#store?.set(JSON.stringify(Object.fromEntries(this.#entries)));
  }
}
