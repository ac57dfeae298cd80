import { z } from 'zod';
import { BenchResult, type BenchResultView, type NgramSpeedView } from '../contract/bench.ts';
import type { ModelSpeedView } from '../contract/catalog.ts';

const KEY = 'models.bench';
/** Maximum number of stored results. The oldest one is dropped first. */
const MAX_RESULTS = 256;

/** A result, with the size of the model by which a replaced file is recognised. */
const Stored = z.array(z.object({ sizeBytes: z.number(), result: BenchResult }));
type Stored = z.infer<typeof Stored>;

/** A model as far as its results are concerned. */
export interface MeasuredModel {
  readonly id: string;
  readonly sizeBytes: number;
}

export interface BenchResultsStore {
  get(key: string): string | null;
  set(key: string, value: string): void;
}

const rounded = (value: number): number => Number(value.toPrecision(3));

function read(text: string | null): Stored {
  try {
    return Stored.safeParse(JSON.parse(text ?? '[]')).data ?? [];
  } catch {
    return [];
  }
}

/** The measured speeds of models, stored across restarts: one for each model and memory pool. */
export class BenchResults {
  readonly #store: BenchResultsStore;
  #results: Stored;

  constructor(store: BenchResultsStore) {
    this.#store = store;
    this.#results = read(store.get(KEY));
  }

  /** Stores a result. It replaces an earlier one of the same model and pool. */
  add(model: MeasuredModel, result: BenchResultView): void {
    const isSame = (one: BenchResultView) => one.model === result.model && one.pool === result.pool;
    const others = this.#results.filter((one) => !isSame(one.result));
    this.#results = [...others, { sizeBytes: model.sizeBytes, result }].slice(-MAX_RESULTS);
    this.#store.set(KEY, JSON.stringify(this.#results));
  }

  /** Returns what predicting tokens gains with a slot of this device; null when it was not measured. */
  ngramOf({ id, sizeBytes }: MeasuredModel, device: string): NgramSpeedView | null {
    const found = this.#results.findLast(
      ({ result, sizeBytes: size }) =>
        result.model === id && result.device === device && result.ngram !== null && size === sizeBytes,
    );
    return found?.result.ngram ?? null;
  }

  /** Returns the generation speed of a model in a pool over all lengths of the prompt; null when it was not measured. */
  speedOf({ id, sizeBytes }: MeasuredModel, pool: string): ModelSpeedView | null {
    const found = this.#results.find(
      ({ result, sizeBytes: size }) => result.model === id && result.pool === pool && size === sizeBytes,
    );
    if (found === undefined) return null;
    const speeds = found.result.points.map((point) => point.generated_per_second);
    return { low: rounded(Math.min(...speeds)), high: rounded(Math.max(...speeds)), measured: true };
  }
}
