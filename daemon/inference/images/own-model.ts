import { filledWorkflow, type Workflow, type WorkflowInput, workflowValue } from '../../contract/workflow.ts';
import {
  curatedModel,
  type FamilySource,
  type ImageModel,
  isWeightFile,
  plainImageName,
} from '../../models/images/curated.ts';
import { FAMILIES, familyByName, type ImageFamily, variantOf } from '../../models/images/families.ts';
import type { ImageSettings } from '../../slots/config/slot-config.ts';
import type { SlotView } from '../../slots/slot-view.ts';

/** Engines whose requests the gateway builds; every other one gets the request as it came. */
const DRAWING_ENGINES: ReadonlySet<string> = new Set(['comfyui', 'sd-server']);
/** The engine that draws with the one file of its slot, whatever its name. */
export const FILE_ENGINE = 'sd-server';
/** The family of a file that neither says nor suggests one: its workflow works with every complete checkpoint. */
const ASSUMED: ImageFamily = 'sd15';

/** Returns whether an image slot gets requests unchanged. */
export const isForwarded = ({ engine }: Pick<SlotView, 'engine'>): boolean => !DRAWING_ENGINES.has(engine);

export interface FileModelOptions {
  readonly family: ImageFamily;
  readonly source: FamilySource;
  /** Whether the file contains the diffusion model alone. */
  readonly isDiffusionModel?: boolean;
}

/** Returns the model of a file that is not built in. */
export const modelOfFile = (
  file: string,
  { family, source, isDiffusionModel = false }: FileModelOptions,
): ImageModel => ({
  ...FAMILIES[family],
  id: file,
  aliases: [],
  name: file,
  licence: 'unknown',
  family,
  familySource: source,
  checkpoints: isDiffusionModel ? [] : [file],
  diffusionModels: FAMILIES[family].encoders === null ? [] : [file],
});

/** Returns the model of a file by its name alone. */
export function assumedModel(file: string): ImageModel {
  const family = familyByName(file);
  return modelOfFile(file, { family: family ?? ASSUMED, source: family === null ? 'assumed' : 'name' });
}

/** Returns whether a name means this model: its id, another name of it, or one of its files. */
export function isNamed({ id, aliases, checkpoints, diffusionModels }: ImageModel, name: string): boolean {
  if (id === name) return true;
  const plain = plainImageName(name);
  return (
    plain !== null &&
    [id, ...aliases, ...checkpoints, ...diffusionModels].some((each) => plainImageName(each) === plain)
  );
}

type OwnSlot = Pick<SlotView, 'engine' | 'model'> & Pick<Partial<SlotView>, 'imageSettings'>;

/**
 * Returns the model that a slot draws when a request names the slot, with the settings of its file; null when it has
 * none or its engine gets requests unchanged. `reported` are the models that its engine has reported. Pure.
 */
export function ownImageModel(slot: OwnSlot, reported: readonly ImageModel[] = []): ImageModel | null {
  if (isForwarded(slot)) return null;
  const settings = slot.imageSettings ?? null;
  const workflow = settings?.workflow?.workflow ?? null;
  if (settings !== null && workflow !== null) return workflowModel(slot, settings, workflow);
  const file = settings?.checkpoint ?? slot.model;
  if (file === null) return null;
  const found = fileModel(file, slot, reported);
  if (found === null || settings === null) return found;
  return withSettings(found, settings);
}

const wholeOf = (value: unknown, least: number, most: number, otherwise: number): number =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    ? (value as number)
    : otherwise;

/** Returns the model of a workflow: what the file contains are the defaults. */
function workflowModel(
  slot: OwnSlot,
  { defaults, workflow: named }: ImageSettings,
  file: Workflow,
): ImageModel {
  const { steps, cfg: scale, negative_prompt } = defaults;
  const workflow = { ...file, graph: filledWorkflow(file, { steps, cfg: scale, negative_prompt }) };
  const read = (name: WorkflowInput) => workflowValue(workflow, name);
  const cfg = read('cfg');
  const name = slot.model ?? named?.file ?? 'workflow';
  return {
    ...FAMILIES.sd15,
    ...{ id: name, aliases: [], name, licence: 'unknown', family: 'workflow', familySource: 'slot' },
    ...{ checkpoints: [], diffusionModels: [], sampler: 'workflow', scheduler: 'workflow', workflow },
    width: wholeOf(read('width'), 64, 2048, FAMILIES.sd15.width),
    height: wholeOf(read('height'), 64, 2048, FAMILIES.sd15.height),
    steps: wholeOf(read('steps'), 1, FAMILIES.sd15.maxSteps, FAMILIES.sd15.steps),
    cfg: typeof cfg === 'number' && cfg >= 0 && cfg <= 30 ? cfg : FAMILIES.sd15.cfg,
    takes: { cfg: cfg !== undefined, negative: read('negative_prompt') !== undefined },
  };
}

function fileModel(file: string, slot: OwnSlot, reported: readonly ImageModel[]): ImageModel | null {
  const family = slot.imageSettings?.family ?? null;
  if (family !== null) return modelOfFile(file, { family: variantOf(family, file), source: 'slot' });
  const known = curatedModel(file) ?? reported.find((model) => isNamed(model, file));
  if (known !== undefined) return known;
  return isWeightFile(file) || slot.engine === FILE_ENGINE ? assumedModel(file) : null;
}

function withSettings(model: ImageModel, { defaults, loras, vae }: ImageSettings): ImageModel {
  return {
    ...model,
    steps: Math.min(model.maxSteps, defaults.steps ?? model.steps),
    cfg: defaults.cfg ?? model.cfg,
    sampler: defaults.sampler ?? model.sampler,
    scheduler: defaults.scheduler ?? model.scheduler,
    options: {
      ...{ loras, vae, clipSkip: defaults.clip_skip ?? null },
      negativePrompt: defaults.negative_prompt ?? '',
    },
  };
}
