import { isLoaded } from '../dispatch/picture.ts';
import { curatedModel } from '../images/curated.ts';
import type { World } from './tool.ts';

/** The slot that an image request under a curated id reaches by its path. */
const BY_PATH = 'img';

/**
 * Names under which a picture can be drawn now; only curated models can (spec "Images"). Loaded image slots whose model is
 * one, the first that the engine of slot `img` has told of where the slot names none, then those that healthy upstreams list.
 */
export function drawing({ picture, draws }: World): string[] {
  const slots = picture.slots
    .filter((slot) => slot.type === 'image' && isLoaded(slot))
    .flatMap(({ name, model }) => {
      if (model !== null && curatedModel(model) !== undefined) return [name];
      return name === BY_PATH ? draws(name).slice(0, 1) : [];
    });
  const others = picture.upstreams
    .filter(({ healthy }) => healthy)
    .flatMap(({ models }) => models.map(({ id }) => id).filter((id) => curatedModel(id)?.id === id));
  return [...slots, ...others];
}
