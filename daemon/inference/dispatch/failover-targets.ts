import { listedModel } from './balance.ts';
import type { Decision } from './dispatch.ts';
import { otherUpstream } from './failover.ts';
import type { ModelRef } from './model-ref.ts';
import type { RoutingView } from './routing-view.ts';

/** Maximum number of upstreams after the first one; a request tries no more. */
const MAX_UPSTREAMS = 3;

/** A target to try when the chosen one does not serve a request: a slot or an upstream. */
export type FailoverTarget =
  | { readonly slot: string; readonly upstream: null }
  | { readonly slot: null; readonly upstream: string };

/** An upstream with the same model that is not tried, and why. */
export interface SkippedUpstream {
  readonly upstream: string;
  readonly reason: string;
}

interface FailoverPlan {
  readonly after: readonly FailoverTarget[];
  readonly skipped: readonly SkippedUpstream[];
}

/** Returns why an upstream would refuse a call for a model now; null when it accepts one. */
export type RefusalReason = (upstream: string, model: string) => string | null;

/**
 * Returns the targets to try after the chosen one, in order: the rest of a virtual name's chain when memory
 * is refused or the slot has failed, other healthy upstreams with the same id when one cannot be reached, is busy or
 * stops responding. Busy ones come last. Also returns the upstreams with the same id that are not tried. Pure.
 */
export function failoverPlan(
  { chain, lane }: ModelRef,
  decision: Decision,
  view: RoutingView,
  refusalOf: RefusalReason,
): FailoverPlan {
  const { target } = decision;
  if (target.kind === 'slot')
    return {
      after: target.slot === lane ? chain.map((slot) => ({ slot, upstream: null })) : [],
      skipped: [],
    };
  const { model } = target;
  const after: FailoverTarget[] = [];
  const skipped: SkippedUpstream[] = [];
  const known = new Set([target.upstream]);
  const skip = (upstream: string, reason: string) => skipped.push({ upstream, reason });
  for (;;) {
    const next = otherUpstream(decision, known, view)?.target;
    if (next?.kind !== 'upstream') break;
    const { upstream } = next;
    known.add(upstream);
    const refused = refusalOf(upstream, model);
    if (refused !== null) skip(upstream, refused);
    else if (after.length < MAX_UPSTREAMS) after.push({ slot: null, upstream });
    else skip(upstream, `A request is sent to at most ${MAX_UPSTREAMS + 1} upstreams.`);
  }
  const isBound = decision.step === 'registry';
  for (const each of view.upstreams) {
    const { name } = each;
    if (known.has(name) || listedModel(each, model) === undefined) continue;
    skip(name, isBound ? BOUND : (refusalOf(name, model) ?? NOT_HEALTHY));
  }
  return { after, skipped };
}

const BOUND = 'The model is bound to its upstream.';
const NOT_HEALTHY = 'Its last call for this model or its last probe failed.';
