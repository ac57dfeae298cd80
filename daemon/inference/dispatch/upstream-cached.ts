import type { UpstreamState } from '../../upstreams/port.ts';
import { meansSlot } from './names.ts';
import { type Outcome, pass, type Resolver, toUpstream } from './resolver.ts';

/**
 * Step 3: an upstream whose cached model list contains the id (docs/spec/specification.md#dispatch-step-3).
 * Names that refer to slots of this gateway never go to an upstream, whatever it lists.
 */
export const upstreamCached: Resolver = (request, view) => {
  const { lane, model } = request.modelRef;
  if (lane !== null || model === null || meansSlot(model, view)) return pass('the request names a slot');
  if (view.coldListsFetched) return pass('no cached model list contains this model');
  return fromLists(view.upstreams, model) ?? pass('no upstream lists this model');
};

/** Healthy first, then the own network before guarded ones, then the smaller priority, then the name. */
const byPreference =
  (model: string) =>
  (a: UpstreamState, b: UpstreamState): number =>
    Number(isUsable(b, model)) - Number(isUsable(a, model)) ||
    Number(a.isSpendGuarded) - Number(b.isSpendGuarded) ||
    a.priority - b.priority ||
    (a.name < b.name ? -1 : 1);

const isUsable = ({ isHealthy, failingModels }: UpstreamState, model: string): boolean =>
  isHealthy && !failingModels.has(model);

/** Returns the best upstream that lists `model`, or null. */
export function fromLists(upstreams: readonly UpstreamState[], model: string): Outcome | null {
  const best = upstreams
    .filter(({ models }) => models.some(({ id }) => id === model))
    .sort(byPreference(model))[0];
  return best ? toUpstream(best.name, model, `upstream ${best.name} lists this model`) : null;
}
