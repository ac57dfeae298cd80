import { createHash } from 'node:crypto';
import { getModuleVersion } from 'node-llama-cpp';
import type { WorkerConfig } from '../protocol.ts';
import type { LoadedModel } from './load.ts';
import { modelDigest } from './model-digest.ts';
import { StateStore } from './state-store.ts';

/** Returns the saved states of the loaded model, or why there are none. */
export async function openStateStore(
  { kvCache, modelPath }: WorkerConfig,
  loaded: LoadedModel,
): Promise<StateStore | 'not_configured' | 'unavailable'> {
  if (kvCache === null) return 'not_configured';
  try {
    const settings = settingsDigest(await stateSettings(loaded));
    return StateStore.open(kvCache, { model: await modelDigest(modelPath), settings });
  } catch {
    return 'unavailable';
  }
}

/** Everything but the model file that changes a state, its format, or its rounding. */
export interface StateSettings {
  /** Version of the library. */
  readonly library: string;
  /** Release of llama.cpp. */
  readonly engine: string;
  readonly device: string;
  readonly window: number;
  readonly kvCacheKeyType: number;
  readonly kvCacheValueType: number;
  readonly flashAttention: boolean | string;
}

export const settingsDigest = (settings: StateSettings): string =>
  createHash('sha256').update(JSON.stringify(settings)).digest('hex');

async function stateSettings({ llama, info, context }: LoadedModel): Promise<StateSettings> {
  const { kvCacheKeyType, kvCacheValueType, flashAttention } = context;
  return {
    library: await getModuleVersion(),
    engine: String(llama.llamaCppRelease.release),
    device: info.device,
    window: info.context,
    ...{ kvCacheKeyType, kvCacheValueType, flashAttention },
  };
}
