import { isLoaded } from '../dispatch/routing-view.ts';
import { curatedModel } from '../images/curated.ts';
import type { World } from './tool.ts';

/** The slot that an image request under a curated id reaches by its path. */
const BY_PATH = 'img';

/**
 * Names of the models that can draw a picture now; only curated models can
 * (docs/spec/specification.md#images-curated). First loaded image slots with such a model, then, where slot
 * `img` names none, the first model that its engine reported, then the models that healthy upstreams list.
 */
export function drawing({ picture, draws }: World): string[] {
  const slots = picture.slots
    .filter((slot) => slot.type === 'image' && isLoaded(slot))
    .flatMap(({ name, model }) => {
      if (model !== null && curatedModel(model) !== undefined) return [name];
      return name === BY_PATH ? draws(name).slice(0, 1) : [];
    });
  const others = picture.upstreams
    .filter(({ isHealthy }) => isHealthy)
    .flatMap(({ models }) => models.map(({ id }) => id).filter((id) => curatedModel(id)?.id === id));
  return [...slots, ...others];
}
