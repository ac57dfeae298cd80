import { isLoaded } from '../dispatch/routing-view.ts';
import { isForwarded, ownImageModel } from '../images/own-model.ts';
import { typeByName } from '../model-type.ts';
import type { ToolContext } from './tool.ts';

/**
 * Returns the names of the models that can draw now (docs/spec/contract.md#curated). First loaded image slots: by the
 * slot's name when its file names a model, else by the first model that its engine reported. Then the image models that
 * healthy upstreams list.
 */
export function imageModels({ view, reportedModels }: ToolContext): string[] {
  const slots = view.slots
    .filter((slot) => slot.type === 'image' && isLoaded(slot))
    .flatMap((slot) => {
      const reported = reportedModels.of(slot.name);
      if (isForwarded(slot) || ownImageModel(slot, reported) !== null) return [slot.name];
      return reported.slice(0, 1).map(({ id }) => id);
    });
  const others = view.upstreams
    .filter(({ isHealthy }) => isHealthy)
    .flatMap(({ models }) => models.filter(({ id, type }) => (type ?? typeByName(id)) === 'image'))
    .map(({ id }) => id);
  return [...slots, ...others];
}
