import { basename, extname, isAbsolute } from 'node:path';
import { modelId } from '../../models/model-id.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { ModelSource, SlotModel } from '../engines/engine.ts';
import { BUILT_IN_SLOTS } from '../lifecycle/slot.ts';
import { type ModelFile, modelFileAt } from './model-files.ts';

/**
 * Looks up a model in the registry: the one of a slot file, or the one that a built-in slot takes automatically.
 */
type Lookup = (config: SlotConfig) => SlotModel | null;

/** Reads the file at a path; null when there is none. */
type ReadModelFile = (path: string) => ModelFile | null;

const unregisteredModel = (config: SlotConfig, id: string): SlotModel => ({
  id,
  path: null,
  type: config.type,
  demo: false,
  sizeBytes: 0,
  contextTrain: null,
});

/** Returns the model of a file or folder that is not in the registry; null when it does not exist. */
function modelAt(config: SlotConfig, path: string, at: ReadModelFile): SlotModel | null {
  const file = at(path);
  const id = modelId(basename(path, extname(path)));
  return file && { ...unregisteredModel(config, id), path, ...file };
}

/** Returns a model of the registry. Only a built-in slot gets a model that its file does not name. */
const registeredModel = (config: SlotConfig, lookup: Lookup): SlotModel | null =>
  config.model === null && !BUILT_IN_SLOTS.includes(config.name) ? null : lookup(config);

/**
 * Returns the model that a slot would load, as its engine finds it; null when there is none. Throws what `lookup`
 * and `at` throw.
 */
export function slotModel(
  config: SlotConfig,
  source: ModelSource,
  lookup: Lookup,
  at: ReadModelFile = modelFileAt,
): SlotModel | null {
  const { model } = config;
  if (source === 'name')
    return unregisteredModel(config, model ?? config.imageSettings?.checkpoint ?? config.name);
  if (source === 'registry') return registeredModel(config, lookup);
  if (model === null) return null;
  return lookup(config) ?? (isAbsolute(model) ? modelAt(config, model, at) : null);
}
