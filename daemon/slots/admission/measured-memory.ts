import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { KeptText } from '../binding/stored-bindings.ts';
import type { Launch } from '../engines/engine.ts';

/** Launches that are remembered; the one that was measured longest ago is forgotten first. */
const MOST = 512;
/** A measurement that differs less from the known one is not written again. */
const WORTH_WRITING = 0.02;
/** A disk reads at least this many bytes per millisecond; a guess until a load was measured. */
const BYTES_PER_MS = 500_000;

const Measure = z.object({
  /** Size of the model when it was measured; another size is another model. */
  size: z.number(),
  /** Most bytes that the launch was seen to take; null when that could not be seen. */
  most_bytes: z.number().nullable(),
  /** Milliseconds of the last load. */
  load_ms: z.number().nullable(),
});
type Measure = z.infer<typeof Measure>;
const Kept = z.record(z.string(), Measure);

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

function read(text: string | null): Map<string, Measure> {
  try {
    const kept = Kept.safeParse(JSON.parse(text ?? '{}'));
    return new Map(kept.success ? Object.entries(kept.data) : []);
  } catch {
    return new Map();
  }
}

const differs = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a !== b : Math.abs(a - b) > WORTH_WRITING * Math.max(a, b);

/** What launches took and how long they loaded on this machine, kept over restarts. */
export class Measures {
  readonly #kept: KeptText | undefined;
  readonly #known: Map<string, Measure>;

  constructor(kept?: KeptText) {
    this.#kept = kept;
    this.#known = read(kept?.get() ?? null);
  }

  /** Bytes that this launch took; null when it was never measured. */
  bytes(launch: Launch, pool: string, size: number): number | null {
    return this.#of(measureKey(launch, pool), size).most_bytes;
  }

  /** The most bytes that any launch of a model took, by pool. */
  ofModel(modelId: string): Record<string, number> {
    const most: Record<string, number> = {};
    for (const [key, { most_bytes: bytes }] of this.#known) {
      if (bytes === null || !key.startsWith(`${modelId}|`)) continue;
      const pool = poolOfKey(key);
      if (pool !== null) most[pool] = Math.max(bytes, most[pool] ?? 0);
    }
    return most;
  }

  /** Milliseconds that loading it again takes: as last time, else by the size of the model. */
  loadMs(launch: Launch, pool: string, size: number): number {
    return this.#of(measureKey(launch, pool), size).load_ms ?? Math.ceil(size / BYTES_PER_MS);
  }

  /** A launch was seen to take so many bytes; the most that was ever seen counts. */
  took(launch: Launch, pool: string, size: number, bytes: number): void {
    const key = measureKey(launch, pool);
    const before = this.#of(key, size);
    this.#keep(key, before, { ...before, most_bytes: Math.max(bytes, before.most_bytes ?? 0) });
  }

  /** A launch was loaded in so many milliseconds. */
  loaded(launch: Launch, pool: string, size: number, loadMs: number): void {
    const key = measureKey(launch, pool);
    const before = this.#of(key, size);
    this.#keep(key, before, { ...before, load_ms: loadMs });
  }

  #of(key: string, size: number): Measure {
    const known = this.#known.get(key);
    return known?.size === size ? known : { size, most_bytes: null, load_ms: null };
  }

  #keep(key: string, before: Measure, now: Measure): void {
    if (!differs(before.most_bytes, now.most_bytes) && !differs(before.load_ms, now.load_ms)) return;
    this.#known.delete(key);
    this.#known.set(key, now);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      this.#known.delete(oldest);
    }
    this.#kept?.set(JSON.stringify(Object.fromEntries(this.#known)));
  }
}
