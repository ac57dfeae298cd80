import type { UpstreamFacts } from '../ports.ts';
import { type Outcome, pass, type Resolver, toUpstream } from './resolver.ts';

/** Step 3 (spec "Model to slot resolution"): an upstream whose cached model list holds the id; healthy first, then priority, then name. */
export const upstreamCached: Resolver = (ask, picture) => {
  const { lane, model } = ask.address;
  if (lane !== null || model === null) return pass('the caller means a slot');
  if (picture.liveAsked) return pass('no cached list held this model');
  return fromLists(picture.upstreams, model) ?? pass('no upstream lists this model');
};

/** The best upstream that lists `model`, or null. */
export function fromLists(upstreams: readonly UpstreamFacts[], model: string): Outcome | null {
  const holders = upstreams.filter((upstream) => upstream.models.includes(model));
  const best = holders.sort(
    (a, b) => Number(b.healthy) - Number(a.healthy) || a.priority - b.priority || (a.name < b.name ? -1 : 1),
  )[0];
  return best ? toUpstream(best.name, model, `upstream ${best.name} lists this model`) : null;
}
