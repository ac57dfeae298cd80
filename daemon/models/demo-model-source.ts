import type { Log } from '../lib/log.ts';
import type { KeyValueRepo } from '../store/key-value.ts';
import { demoMetadata, ensureDemoModel } from './demo-model.ts';
import { type FolderSync, isCurrent } from './folder-sync.ts';
import type { ModelStore } from './model-store.ts';
import type { RegisteredModel } from './registered-model.ts';
import { findModelFile } from './scan.ts';
import { isEmbeddedChat } from './unusable-formats.ts';

/** Stored permanently: from then on the demonstration model is not registered. */
const HAD_REAL_MODEL_KEY = 'models.real_model_seen';

export interface DemoSourceDeps {
  modelStore: ModelStore;
  sync: FolderSync;
  keyValue: KeyValueRepo;
  log: Log;
  folder: string;
  /** Whether a real model may serve as `agent`: its last load did not fail, or another one has served. */
  isUsable(model: RegisteredModel): boolean;
}

const isReal = (model: RegisteredModel) => isEmbeddedChat(model) && !model.demo;

async function registerDemo({ modelStore, sync, log, folder }: DemoSourceDeps): Promise<void> {
  try {
    const { path } = await ensureDemoModel(folder);
    const file = await findModelFile(path);
    if (file === null || isCurrent(file, modelStore.byPath(path))) return;
    sync.register('demo', file, await demoMetadata(path));
  } catch (error) {
    log.error({ reason: (error as Error).message }, 'the demonstration model cannot be written');
  }
}

/**
 * The demonstration model exists until the first real chat model is found, which removes it permanently. It returns
 * while every real one has failed to load and none has served.
 * (docs/spec/contract.md#demo-model). Without a writable folder the gateway continues without it.
 */
export async function updateDemoModel(deps: DemoSourceDeps): Promise<void> {
  const { modelStore, keyValue, isUsable } = deps;
  const real = modelStore.list().filter(isReal);
  if (real.length > 0 && !real.some(isUsable)) return registerDemo(deps);
  if (real.length > 0 && keyValue.get(HAD_REAL_MODEL_KEY) === null) {
    keyValue.set(HAD_REAL_MODEL_KEY, new Date().toISOString());
  }
  if (keyValue.get(HAD_REAL_MODEL_KEY) === null) return registerDemo(deps);
  for (const { id, demo } of modelStore.list()) if (demo) modelStore.remove(id);
}
