import type { UpstreamState } from '../../upstreams/port.ts';
import { type BalanceRule, balance, listedModel, type PrefixAffinity } from './balance.ts';
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
  return fromLists(view.upstreams, model, request.affinity) ?? pass('no upstream lists this model');
};

/** Why an upstream was chosen among equal ones. */
const CHOSEN_BY: Readonly<Record<BalanceRule, string>> = {
  loaded: ', and has it loaded',
  prefix: ', and served the beginning of this conversation',
  active: ', and has the fewest active requests',
  turn: ', and it is its turn',
};

/** Returns the best upstream that lists `model`, or null. */
export function fromLists(
  upstreams: readonly UpstreamState[],
  model: string,
  affinity?: PrefixAffinity,
): Outcome | null {
  const best = balance(
    upstreams.filter((each) => listedModel(each, model) !== undefined),
    model,
    affinity,
  );
  if (best === null) return null;
  const { upstream, rule } = best;
  const chosen = rule === null ? '' : CHOSEN_BY[rule];
  const why = upstream.isBusy ? `${chosen}; it was busy a moment ago, and no other one is free` : chosen;
  return toUpstream(upstream.name, model, `upstream ${upstream.name} lists this model${why}`, rule);
}
