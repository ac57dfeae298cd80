import type { Log } from '../lib/log.ts';
import { hasCache } from './context-memory.ts';
import type { ModelStore } from './model-store.ts';
import type { RegisteredModel } from './registered-model.ts';
import { simulateInChild } from './simulate-in-child.ts';

/** Of a smaller model the engine itself takes more memory than the error of the estimate. */
const MIN_BYTES = 64 * 1024 * 1024;
/** Models per process, which keeps the structures of all of them. */
const BATCH = 4;

/** Returns whether llama.cpp has not been asked yet about the contexts of a model. Encoders have none. */
export const isDue = ({ format, simulated, sizeBytes, contextMemory }: RegisteredModel): boolean =>
  format === 'gguf' &&
  simulated === null &&
  sizeBytes >= MIN_BYTES &&
  (contextMemory === null || hasCache(contextMemory));

export interface SimulationDeps {
  readonly modelStore: ModelStore;
  readonly log: Log;
  readonly signal: AbortSignal;
  simulate?: typeof simulateInChild;
}

/**
 * Adds to each due model what llama.cpp says about its contexts. Takes seconds of processor time per model at low
 * priority; until then the closed form is used. Never rejects.
 */
export async function simulateModels(deps: SimulationDeps): Promise<void> {
  const { modelStore, log, signal, simulate = simulateInChild } = deps;
  const due = modelStore.list().filter(isDue);
  for (let start = 0; start < due.length; start += BATCH) {
    const models = due.slice(start, start + BATCH);
    const results = await simulate(
      models.map(({ path }) => path),
      signal,
    );
    if (signal.aborted) return;
    for (const [index, { id, path, mtimeS }] of models.entries()) {
      const current = modelStore.get(id);
      // The file may have been replaced meanwhile.
      if (current?.path !== path || current.mtimeS !== mtimeS) continue;
      const simulated = results[index] ?? [];
      if (simulated.length === 0)
        log.debug({ model: id }, 'llama.cpp cannot simulate the contexts of a model');
      modelStore.change(id, { simulated });
    }
  }
}
