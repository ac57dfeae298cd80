import type { Decision } from './dispatch.ts';
import { otherUpstream } from './failover.ts';
import type { ModelRef } from './model-ref.ts';
import type { RoutingView } from './routing-view.ts';

/** Maximum number of upstreams in the list; a request tries no more. */
const MAX_UPSTREAMS = 3;

/** A target to try when the chosen one does not serve a request: a slot or an upstream. */
export type FailoverTarget =
  | { readonly slot: string; readonly upstream: null }
  | { readonly slot: null; readonly upstream: string };

/**
 * Returns the targets to try after the chosen one, in order: the rest of a virtual name's chain when memory
 * is refused or the slot has failed, other healthy upstreams with the same id when one cannot be reached.
 * Pure.
 */
export function failoverTargets(
  { chain, lane }: ModelRef,
  decision: Decision,
  view: RoutingView,
): FailoverTarget[] {
  const { target } = decision;
  if (target.kind === 'slot') {
    return target.slot === lane ? chain.map((slot) => ({ slot, upstream: null })) : [];
  }
  const tried = new Set([target.upstream]);
  const found: FailoverTarget[] = [];
  while (found.length < MAX_UPSTREAMS) {
    const next = otherUpstream(decision, tried, view)?.target;
    if (next?.kind !== 'upstream') break;
    tried.add(next.upstream);
    found.push({ slot: null, upstream: next.upstream });
  }
  return found;
}
