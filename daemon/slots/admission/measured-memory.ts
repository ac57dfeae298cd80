import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { TextStore } from '../binding/stored-bindings.ts';
import type { Launch } from '../engines/engine.ts';

/** Maximum number of stored launches. The one that was measured longest ago is dropped first. */
const MAX_ENTRIES = 512;
/** A measurement that differs by less than this share from the stored one is not written. */
const MIN_CHANGE = 0.02;
/** Assumed disk speed in bytes per millisecond, until a load was measured. */
const BYTES_PER_MS = 500_000;

const Measurement = z.object({
  /** Size of the model when it was measured. Another size means another model. */
  size: z.number(),
  /** Maximum bytes that were measured for the launch; null when they could not be read. */
  most_bytes: z.number().nullable(),
  /** Duration of the last load in milliseconds. */
  load_ms: z.number().nullable(),
});
type Measurement = z.infer<typeof Measurement>;
const StoredMeasurements = z.record(z.string(), Measurement);

/** Returns a short digest of the arguments of an external program; empty for the built-in worker. */
function argumentsOf({ how }: Launch): string {
  if (!('args' in how)) return '';
  return `#${createHash('sha256').update(JSON.stringify(how.args)).digest('base64url').slice(0, 12)}`;
}

/** Returns a key of everything that decides how much memory a launch takes. */
export const measureKey = (launch: Launch, pool: string): string =>
  [
    launch.modelId,
    `${launch.engine}${argumentsOf(launch)}`,
    `${launch.device}@${pool}`,
    `${launch.context}x${launch.sequences}`,
    launch.parallel,
    launch.batch,
  ].join('|');

/** Returns the pool in a key; null when the key has another form. */
const poolOfKey = (key: string): string | null =>
  /^.*\|[^|]*@([^|@]+)\|[^|]*\|\d+\|\d+$/.exec(key)?.[1] ?? null;

function read(text: string | null): Record<string, Measurement> {
  try {
    return StoredMeasurements.safeParse(JSON.parse(text ?? '{}')).data ?? {};
  } catch {
    return {};
  }
}

const differs = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a !== b : Math.abs(a - b) > MIN_CHANGE * Math.max(a, b);

/** Memory use and load times of launches on this machine, stored across restarts. */
export class Measurements {
  readonly #store: TextStore | undefined;
  /** Read with `peek`: only a measurement counts as use. */
  readonly #entries = new LRUCache<string, Measurement>({ max: MAX_ENTRIES });

  constructor(stored?: TextStore) {
    this.#store = stored;
    for (const [key, one] of Object.entries(read(stored?.get() ?? null))) this.#entries.set(key, one);
  }

  /** Returns the bytes that this launch took; null when it was never measured. */
  bytes(launch: Launch, pool: string, size: number): number | null {
    return this.#of(measureKey(launch, pool), size).most_bytes;
  }

  /** Returns the maximum bytes that any launch of a model took, by pool. */
  ofModel(modelId: string): Record<string, number> {
    const max: Record<string, number> = {};
    for (const [key, { most_bytes: bytes }] of this.#entries.entries()) {
      if (bytes === null || !key.startsWith(`${modelId}|`)) continue;
      const pool = poolOfKey(key);
      if (pool !== null) max[pool] = Math.max(bytes, max[pool] ?? 0);
    }
    return max;
  }

  /** Returns the milliseconds that a reload takes: the last measured time, otherwise an estimate by model size. */
  loadMs(launch: Launch, pool: string, size: number): number {
    return this.#of(measureKey(launch, pool), size).load_ms ?? Math.ceil(size / BYTES_PER_MS);
  }

  /** Records the bytes that a launch took. Keeps the maximum. Returns whether it is a new one. */
  recordBytes(launch: Launch, pool: string, size: number, bytes: number): boolean {
    const key = measureKey(launch, pool);
    const before = this.#of(key, size);
    return this.#save(key, before, { ...before, most_bytes: Math.max(bytes, before.most_bytes ?? 0) });
  }

  /** Records the milliseconds that a load took. */
  recordLoadMs(launch: Launch, pool: string, size: number, loadMs: number): void {
    const key = measureKey(launch, pool);
    const before = this.#of(key, size);
    this.#save(key, before, { ...before, load_ms: loadMs });
  }

  #of(key: string, size: number): Measurement {
    const known = this.#entries.peek(key);
    return known?.size === size ? known : { size, most_bytes: null, load_ms: null };
  }

  #save(key: string, before: Measurement, now: Measurement): boolean {
    if (!differs(before.most_bytes, now.most_bytes) && !differs(before.load_ms, now.load_ms)) return false;
    this.#entries.set(key, now);
    this.#store?.set(JSON.stringify(Object.fromEntries(this.#entries.rentries())));
    return true;
  }
}
