import type { SlotView } from '../../slots/slot-view.ts';
import { aliasedSlot, VIRTUAL_PREFIX } from '../dispatch/names.ts';
import { configuredName } from '../dispatch/resolve-name.ts';
import type { RoutingView } from '../dispatch/routing-view.ts';
import { laneOf } from '../rewrite/virtual-name.ts';
import { notCurated } from './checks.ts';
import { type CuratedModel, curatedModel } from './curated.ts';

/** The model that an image request refers to. */
export interface ResolvedModel {
  readonly curated: CuratedModel;
  /** The name to dispatch. */
  readonly model: string;
}

/**
 * Resolves an alias or virtual name to the model of its slot; every other name must be curated itself. Throws
 * `image.model_not_curated`.
 */
export function resolveImageModel(name: string, view: RoutingView): ResolvedModel {
  const requested = configuredName(name, view)?.target ?? name;
  const slot = namedSlot(requested, view);
  if (slot !== undefined) {
    const curated = slot.model === null ? undefined : curatedModel(slot.model);
    if (curated === undefined) throw notCurated(`Slot ${slot.name} does not name a curated image model.`);
    return { curated, model: `${VIRTUAL_PREFIX}${slot.name}` };
  }
  const curated = curatedModel(requested);
  if (curated === undefined) throw notCurated();
  return { curated, model: servedId(curated, view) };
}

function namedSlot(requested: string, view: RoutingView): SlotView | undefined {
  return requested.startsWith(VIRTUAL_PREFIX) ? laneOf(requested, view) : aliasedSlot(requested, view);
}

/** Returns the id under which an image slot holds the model, often a file name. */
function servedId(curated: CuratedModel, { slots }: RoutingView): string {
  const held = slots.flatMap(({ type, model }) => (type === 'image' && model !== null ? [model] : []));
  if (held.includes(curated.id)) return curated.id;
  return held.find((model) => curatedModel(model) === curated) ?? curated.id;
}
