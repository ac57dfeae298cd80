import { isLoaded } from '../dispatch/routing-view.ts';
import { curatedModel } from '../images/curated.ts';
import type { ToolContext } from './tool.ts';

/** The slot that an image request with a curated id reaches by its path. */
const BY_PATH = 'img';

/**
 * Returns the names of the models that can draw now; only curated models can
 * (docs/spec/specification.md#images-curated). First loaded image slots with such a model, then, where slot
 * `img` names none, the first model that its engine reported, then the models that healthy upstreams list.
 */
export function imageModels({ view, drawableModels }: ToolContext): string[] {
  const slots = view.slots
    .filter((slot) => slot.type === 'image' && isLoaded(slot))
    .flatMap(({ name, model }) => {
      if (model !== null && curatedModel(model) !== undefined) return [name];
      return name === BY_PATH ? drawableModels(name).slice(0, 1) : [];
    });
  const others = view.upstreams
    .filter(({ isHealthy }) => isHealthy)
    .flatMap(({ models }) => models.map(({ id }) => id).filter((id) => curatedModel(id)?.id === id));
  return [...slots, ...others];
}
