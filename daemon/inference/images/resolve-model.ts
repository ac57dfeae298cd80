import { GatewayError } from '../../contract/errors.ts';
import { curatedModel, type ImageModel, isWeightFile } from '../../models/images/curated.ts';
import type { SlotView } from '../../slots/slot-view.ts';
import { aliasedSlot, VIRTUAL_PREFIX } from '../dispatch/names.ts';
import { noImageEngineMessage } from '../dispatch/no-route.ts';
import { configuredName } from '../dispatch/resolve-name.ts';
import type { RoutingView } from '../dispatch/routing-view.ts';
import { typeByName } from '../model-type.ts';
import { laneOf } from '../rewrite/virtual-name.ts';
import { isForwarded, isNamed, ownImageModel } from './own-model.ts';

/** What the engines of image slots have reported. */
export interface ReportedModels {
  /** Returns the models that a slot's engine can draw in addition to the one that its file names. Sends no request. */
  of(slot: string): readonly ImageModel[];
  /** Returns whether the engine of a slot has been queried for its models. */
  isKnown(slot: string): boolean;
}

export const NONE_REPORTED: ReportedModels = { of: () => [], isKnown: () => false };

/** The model that an image request refers to. */
export interface ResolvedModel {
  /** Null for a request that goes to an upstream or an engine as it came. */
  readonly image: ImageModel | null;
  /** The name to dispatch. */
  readonly model: string;
  /** The slot whose engine must be queried first: only it knows whether it has such a file. */
  readonly unknownAt?: string;
}

/** The slot that the path of image requests leads to. */
const BY_PATH = 'img';

/**
 * Resolves the model of an image request (docs/spec/contract.md#curated): a slot's alias or virtual name, the model
 * that a slot file names, a built-in model, a file that an engine has reported, or a model of an upstream. Throws
 * `image.model_not_curated` for every other name.
 */
export function resolveImageModel(name: string, view: RoutingView, reported: ReportedModels): ResolvedModel {
  const requested = configuredName(name, view)?.target ?? name;
  const slot = namedSlot(requested, view);
  if (slot !== undefined) return ofSlot(slot, view, reported);
  const found =
    declared(requested, view, reported) ??
    drawable(requested, view, reported) ??
    elsewhere(requested, view, reported);
  if (found === null) throw notCurated(view, reported);
  return found;
}

function namedSlot(requested: string, view: RoutingView): SlotView | undefined {
  return requested.startsWith(VIRTUAL_PREFIX) ? laneOf(requested, view) : aliasedSlot(requested, view);
}

function ofSlot(slot: SlotView, view: RoutingView, reported: ReportedModels): ResolvedModel {
  const model = `${VIRTUAL_PREFIX}${slot.name}`;
  if (slot.type === 'image' && isForwarded(slot)) return { image: null, model };
  const image = slot.type === 'image' ? ownImageModel(slot, reported.of(slot.name)) : null;
  if (image !== null) return { image, model, ...unknownAt(image, slot, reported) };
  throw notCurated(
    view,
    reported,
    slot.type === 'image'
      ? `Slot ${slot.name} names no image model. Set model or checkpoint in its file, or request a model by its name.`
      : `Slot ${slot.name} does not generate images.`,
  );
}

/** Engines that know more of a file, or whose file the gateway can read. */
const CAN_DISCOVER: ReadonlySet<string> = new Set(['comfyui', 'sd-server']);

/** A file whose family is only assumed is worth a query. */
const unknownAt = (image: ImageModel, { name, engine }: SlotView, reported: ReportedModels) =>
  image.familySource === 'assumed' && CAN_DISCOVER.has(engine) && !reported.isKnown(name)
    ? { unknownAt: name }
    : {};

const imageSlots = ({ slots }: RoutingView): SlotView[] => slots.filter(({ type }) => type === 'image');

/** Finds the slot whose file names the model. */
function declared(requested: string, view: RoutingView, reported: ReportedModels): ResolvedModel | null {
  const matches = imageSlots(view).flatMap((slot) => {
    if (slot.model === null) return [];
    const image = ownImageModel(slot, reported.of(slot.name));
    const isNamedSo = slot.model === requested || (image !== null && isNamed(image, requested));
    return isNamedSo ? [{ slot, image, model: slot.model }] : [];
  });
  const best = matches.find(({ model }) => model === requested) ?? matches[0];
  if (best === undefined) return null;
  const { slot, image, model } = best;
  if (image === null) return isForwarded(slot) ? { image, model } : null;
  return { image, model, ...unknownAt(image, slot, reported) };
}

/** Finds the engine that draws with a built-in model or has a file of this name. */
function drawable(requested: string, view: RoutingView, reported: ReportedModels): ResolvedModel | null {
  const image = curatedModel(requested);
  const slots = imageSlots(view).filter((slot) => !isForwarded(slot));
  const having = slots.flatMap(({ name }) => {
    const model = reported.of(name).find((each) => isNamed(each, requested));
    return model === undefined ? [] : [{ name, model }];
  });
  const best = having.find(({ name }) => name === BY_PATH) ?? having[0];
  if (image !== undefined) {
    const isListed = view.upstreams.some(({ models }) => models.some(({ id }) => id === image.id));
    if (slots.length === 0 && (isListed || view.upstreams.some(({ isCold }) => isCold))) return null;
    const elsewhere = best !== undefined && best.name !== BY_PATH && !isListed;
    return { image, model: elsewhere ? `${VIRTUAL_PREFIX}${best.name}` : image.id };
  }
  return best === undefined ? null : { image: best.model, model: `${VIRTUAL_PREFIX}${best.name}` };
}

/** Finds an upstream that lists the model, or may, and then an engine whose files are still unknown. */
function elsewhere(requested: string, view: RoutingView, reported: ReportedModels): ResolvedModel | null {
  const record = view.upstreams.flatMap(({ models }) => models).find(({ id }) => id === requested);
  const type = record === undefined ? null : (record.type ?? typeByName(requested));
  if (record !== undefined && (type === null || type === 'image')) return { image: null, model: requested };
  const unqueried = isWeightFile(requested)
    ? imageSlots(view).find(({ name, engine }) => engine === 'comfyui' && !reported.isKnown(name))
    : undefined;
  if (unqueried !== undefined)
    return { image: null, model: `${VIRTUAL_PREFIX}${unqueried.name}`, unknownAt: unqueried.name };
  return view.upstreams.some(({ isCold }) => isCold) ? { image: null, model: requested } : null;
}

/** Returns the names of all models that image requests can use now. */
export function imageModelNames(view: RoutingView, reported: ReportedModels): string[] {
  const ofSlots = imageSlots(view).flatMap((slot) => {
    const own = ownImageModel(slot, reported.of(slot.name));
    return [...(own === null ? [] : [own.id]), ...reported.of(slot.name).map(({ id }) => id)];
  });
  const ofUpstreams = view.upstreams
    .flatMap(({ models }) => models)
    .filter(({ id, type }) => (type ?? typeByName(id)) === 'image')
    .map(({ id }) => id);
  return [...new Set([...ofSlots, ...ofUpstreams])];
}

/** Maximum names in an error. */
const MAX_NAMES = 64;
/** Returns 404 `image.model_not_curated` with the names of the models that requests can use. */
export function notCurated(view: RoutingView, reported: ReportedModels, message?: string): GatewayError {
  const models = imageModelNames(view, reported);
  const isEmpty = models.length === 0 && imageSlots(view).length === 0;
  const absent = isEmpty ? noImageEngineMessage(view) : undefined;
  return new GatewayError('image.model_not_curated', {
    message: message ?? absent,
    param: 'model',
    details: { models: models.slice(0, MAX_NAMES) },
  });
}
