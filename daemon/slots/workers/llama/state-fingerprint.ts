import { createHash } from 'node:crypto';
import { getModuleVersion, type LlamaContext } from 'node-llama-cpp';
import type { WorkerConfig } from '../protocol.ts';
import type { LoadedModel } from './load.ts';
import { modelDigest } from './model-digest.ts';
import { StateStore } from './state-store.ts';

/** Returns the saved states of the loaded model; null when they are off, or when its file cannot be read again. */
export async function openStateStore(
  { kvCache, modelPath }: WorkerConfig,
  loaded: LoadedModel,
): Promise<StateStore | null> {
  if (kvCache === null) return null;
  try {
    const settings = await settingsDigest(loaded);
    return StateStore.open(kvCache, { model: await modelDigest(modelPath), settings });
  } catch {
    return null;
  }
}

/** Returns a digest of everything but the model file that changes a state, its format, or its rounding. */
async function settingsDigest({ llama, info, context }: LoadedModel): Promise<string> {
  const settings = {
    library: await getModuleVersion(),
    engine: llama.llamaCppRelease,
    device: info.device,
    window: info.context,
    cache: cacheTypes(context),
  };
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex');
}

const cacheTypes = ({ kvCacheKeyType, kvCacheValueType, flashAttention }: LlamaContext) => ({
  kvCacheKeyType,
  kvCacheValueType,
  flashAttention,
});
