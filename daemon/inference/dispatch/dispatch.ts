import type { GatewayError } from '../../contract/errors.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { aliasElsewhere } from './alias-conflict.ts';
import type { BalanceRule } from './balance.ts';
import { capabilityMismatch } from './capability.ts';
import { capabilityPath } from './capability-path.ts';
import { loadedSlot } from './loaded-slot.ts';
import type { ModelRef } from './model-ref.ts';
import { disabledReason, MAX_ECHO, noImageEngine, noRoute, unservedMessage } from './no-route.ts';
import { NPU_EMBED, npuEmbed } from './npu-embed.ts';
import { pathRow } from './paths.ts';
import { registry } from './registry.ts';
import type { DispatchRequest, Outcome, Resolver, Target } from './resolver.ts';
import type { RoutingView } from './routing-view.ts';
import { upstreamCached } from './upstream-cached.ts';
import { upstreamLive } from './upstream-live.ts';

/** The steps of the dispatcher in order (docs/spec/specification.md#dispatch-steps). */
export const STEPS: readonly { readonly name: string; readonly resolve: Resolver }[] = [
  { name: 'loaded-slot', resolve: loadedSlot },
  { name: 'registry', resolve: registry },
  { name: 'upstream-cached', resolve: upstreamCached },
  { name: 'upstream-live', resolve: upstreamLive },
  { name: 'capability-path', resolve: capabilityPath },
];

/** The outcome of one step, for the explanation. */
export interface Trace {
  readonly step: string;
  readonly outcome: Outcome;
}

export interface Resolution {
  /** The steps that were tried, in order. The last one chose, if any did. */
  readonly trace: readonly Trace[];
  readonly step: string | null;
  readonly target: Target | null;
  /** What decided between several upstreams of the same rank; null without others. */
  readonly rule: BalanceRule | null;
  /** Cold model lists are needed for the decision. */
  readonly fetch: boolean;
}

/** Runs the steps on one routing view until one chooses or needs more. Pure. */
export function resolve(request: DispatchRequest, view: RoutingView): Resolution {
  const direct = npuEmbed(request, view);
  if (direct?.is === 'match') {
    const trace = [{ step: NPU_EMBED, outcome: direct }];
    return { trace, step: NPU_EMBED, target: direct.target, rule: null, fetch: false };
  }
  const trace: Trace[] = [];
  for (const { name, resolve: step } of STEPS) {
    const outcome = step(request, view);
    trace.push({ step: name, outcome });
    if (outcome.is === 'match')
      return { trace, step: name, target: outcome.target, rule: outcome.rule ?? null, fetch: false };
    if (outcome.is === 'fetch') return { trace, step: null, target: null, rule: null, fetch: true };
  }
  return { trace, step: null, target: null, rule: null, fetch: false };
}

/** Runs the steps without reading lists: a step that needs them passes. */
export function resolveCached(request: DispatchRequest, view: RoutingView): Resolution {
  const first = resolve(request, view);
  return first.fetch ? resolve(request, withListsRead(view)) : first;
}

/** Copies a routing view to a plain object, because its lists may be read on demand. */
export const withListsRead = (view: RoutingView): RoutingView => ({
  slots: view.slots,
  disabledSlots: view.disabledSlots,
  models: view.models,
  upstreams: view.upstreams,
  npuSuffix: view.npuSuffix,
  names: view.names,
  coldListsFetched: true,
});

export interface Decision {
  readonly step: string;
  readonly target: Target;
  /** What decided between several upstreams of the same rank; null or absent without others. */
  readonly rule?: BalanceRule | null;
}

/** Returns the error of a resolution; null when it can proceed. */
export function refusal(
  request: DispatchRequest,
  view: RoutingView,
  resolution: Resolution,
): GatewayError | null {
  if (!resolution.target) {
    const isUnserved = request.type === 'image' && !view.slots.some(({ type }) => type === 'image');
    return isUnserved
      ? noImageEngine(view)
      : noRoute(request.modelRef.requested, view, reasonOf(request, view));
  }
  return aliasElsewhere(request, resolution.target) ?? capabilityMismatch(request, resolution.target, view);
}

/** Returns the reason that replaces the general text; undefined for none. */
function reasonOf({ modelRef, path }: DispatchRequest, view: RoutingView): string | undefined {
  const { requested } = modelRef;
  const byName = aliasReason(modelRef, view) ?? (requested && disabledReason(requested, view));
  if (byName) return byName;
  const byPath = pathRow(path).slot;
  const disabled = byPath && disabledReason(byPath, view);
  if (!disabled) return undefined;
  return requested === null ? disabled : `${unservedMessage(requested, view)} ${disabled}`;
}

/** Returns why an alias or preset leads nowhere; undefined for other names. */
const aliasReason = ({ alias }: ModelRef, view: RoutingView): string | undefined =>
  alias
    ? `The ${alias.kind} "${truncate(alias.name, MAX_ECHO)}" of config.toml leads to "${truncate(alias.target, MAX_ECHO)}", which no slot or upstream serves. ${disabledReason(alias.target, view) ?? ''}`.trimEnd()
    : undefined;

/**
 * Chooses the target of a request. Synchronous unless cold model lists are needed; then `refresh` fetches
 * them and returns a new routing view. Calls `onResolved` with the final resolution, also when it is refused.
 * Throws `dispatch.no_route` and `dispatch.capability_mismatch`.
 */
export function dispatch(
  request: DispatchRequest,
  view: RoutingView,
  refresh: () => Promise<RoutingView>,
  onResolved: (resolution: Resolution) => void = () => {},
): Decision | Promise<Decision> {
  const first = resolve(request, view);
  const decide = (on: RoutingView, resolution: Resolution): Decision => {
    onResolved(resolution);
    return decisionOf(request, on, resolution);
  };
  if (!first.fetch) return decide(view, first);
  return refresh().then((later) => decide(later, resolve(request, later)));
}

function decisionOf(request: DispatchRequest, view: RoutingView, resolution: Resolution): Decision {
  const refused = refusal(request, view, resolution);
  if (refused) throw refused;
  return {
    step: resolution.step as string,
    target: resolution.target as Target,
    rule: resolution.rule,
  };
}
