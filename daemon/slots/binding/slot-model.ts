import { basename, extname, isAbsolute } from 'node:path';
import { modelId } from '../../models/model-id.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { ModelSource, SlotModel } from '../engines/engine.ts';
import { BUILT_IN_SLOTS } from '../lifecycle/slot.ts';
import { type ModelFile, modelFileAt } from './model-files.ts';

/** Looks up what the registry knows: the model of a slot file, or the one that a built-in slot takes by itself. */
type Lookup = (config: SlotConfig) => SlotModel | null;

/** What lies at a path; null when nothing does. */
type ReadModelFile = (path: string) => ModelFile | null;

const unregisteredModel = (config: SlotConfig, id: string): SlotModel => ({
  id,
  path: null,
  type: config.type,
  demo: false,
  sizeBytes: 0,
  contextTrain: null,
});

/** A file or folder that no registry needs to know; null when it is not there. */
function modelAt(config: SlotConfig, path: string, at: ReadModelFile): SlotModel | null {
  const file = at(path);
  const id = modelId(basename(path, extname(path)));
  return file && { ...unregisteredModel(config, id), path, ...file };
}

/** Only a built-in slot is given a model that its file does not name. */
const registeredModel = (config: SlotConfig, lookup: Lookup): SlotModel | null =>
  config.model === null && !BUILT_IN_SLOTS.includes(config.name) ? null : lookup(config);

/** The model that a slot would load, as its engine finds it; null when there is none. Throws what `lookup` and `at` throw. */
export function slotModel(
  config: SlotConfig,
  source: ModelSource,
  lookup: Lookup,
  at: ReadModelFile = modelFileAt,
): SlotModel | null {
  const { model } = config;
  if (source === 'name') return unregisteredModel(config, model ?? config.name);
  if (source === 'registry') return registeredModel(config, lookup);
  if (model === null) return null;
  return lookup(config) ?? (isAbsolute(model) ? modelAt(config, model, at) : null);
}
