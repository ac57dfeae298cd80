import type { SlotView } from '../../slots/slot-view.ts';
import { type DispatchRequest, type Outcome, pass, type Resolver, toSlot, toUpstream } from './resolver.ts';
import { healthySiblings, isLoaded, modelNamed, type RoutingView, slotNamed } from './routing-view.ts';

/**
 * Step 2: exact registry lookup (docs/spec/specification.md#dispatch-step-2). The lane pin has precedence
 * over the binding. The binding has precedence over a slot file that names the model, as long as that slot
 * serves this very model, or that upstream exists. A slot in ERROR yields to a healthy sibling with the same
 * model id.
 */
export const registry: Resolver = (request, view) => {
  const { lane, model } = request.modelRef;
  if (lane !== null) return pinned(lane, view);
  const binding = model === null ? undefined : modelNamed(view, model)?.binding;
  const upstream = upstreamNamed(view, binding ?? null);
  if (model !== null && upstream !== undefined)
    return toUpstream(upstream, model, `the model is bound to upstream ${upstream}`);
  const named = slotNamed(view, binding?.replace(/^slot:/, '') ?? null);
  const slot = named?.model === model && named ? named : configured(request, view);
  if (!slot) return pass(binding ? `${binding} does not serve it` : 'this model is not installed');
  return orSibling(slot, view, `the model is bound to slot ${slot.name}`);
};

function pinned(lane: string, view: RoutingView): Outcome {
  const slot = slotNamed(view, lane);
  return slot ? orSibling(slot, view, `slot ${lane} has the requested name`) : pass(`slot ${lane} is gone`);
}

/** Returns the upstream of a binding, if it exists and is enabled. */
function upstreamNamed(view: RoutingView, binding: string | null): string | undefined {
  if (!binding?.startsWith('upstream:')) return undefined;
  const wanted = binding.slice('upstream:'.length);
  return view.upstreams.find(({ name }) => name === wanted)?.name;
}

/** Returns a slot whose file names the model, preferring the right type and not ERROR. */
function configured({ modelRef, type }: DispatchRequest, view: RoutingView): SlotView | undefined {
  if (modelRef.model === null) return undefined;
  const slots = view.slots.filter((slot) => slot.model === modelRef.model);
  return slots.find((slot) => slot.type === type && slot.state !== 'error') ?? slots[0];
}

function orSibling(slot: SlotView, view: RoutingView, reason: string): Outcome {
  const sibling = slot.state === 'error' ? healthySiblings(view, slot)[0] : undefined;
  if (!sibling) return toSlot(slot, isLoaded(slot) ? reason : `${reason} (${slot.state})`);
  return toSlot(sibling, `slot ${slot.name} is in ERROR; its sibling ${sibling.name} has the same model`);
}
